import type { ardAgents } from '@agent-network/contracts/agents/catalogs';
import type { Parsed } from '@agent-network/contracts/endpoint';
import { listCatalog } from '../../agents/search/list-catalog.ts';
import { invalid } from '../../lib/app-error.ts';
import type { HttpContext } from '../request/http-context.ts';
import { makePageToken, readPageToken } from './ard-search.ts';
import { agentEntry, kindsOf, publisherOf, typeOf } from './entries.ts';

const DEFAULT_SIZE = 20;

/** Conditions of a list. `null`: no such condition. */
export interface ListFilter {
  readonly displayName: string | null;
  readonly type: string | null;
  readonly publisherId: string | null;
  readonly createdAfter: Date | null;
  readonly updatedAfter: Date | null;
}

const CONDITION =
  /^\s*(displayName|type|publisherId|createdAfter|updatedAfter)\s*(=|>)\s*'((?:[^'\\]|\\['\\])*)'\s*(?:AND\b|$)/;

/**
 * Reads a filter: conditions joined by AND, each a field, `=` (for times `>`) and a text in single quotes, in which a backslash precedes a
 * quote. Throws VALIDATION_ERROR.
 */
export function readListFilter(text: string): ListFilter {
  const given = new Map<string, string>();
  let rest = text;
  while (rest.trim() !== '' || given.size === 0) {
    const [whole, field = '', sign = '', quoted = ''] = CONDITION.exec(rest) ?? [];
    if (whole === undefined || (sign === '>') !== field.endsWith('After'))
      throw invalid(
        'filter',
        "must be conditions joined by AND: displayName, type or publisherId = '…', createdAfter or updatedAfter > '…'",
      );
    if (given.has(field)) throw invalid('filter', `has ${field} twice`);
    given.set(field, quoted.replace(/\\(.)/g, '$1'));
    rest = rest.slice(whole.length);
    if (rest.trim() === '' && whole.trimEnd().endsWith('AND')) throw invalid('filter', 'ends with AND');
  }
  const time = (field: string): Date | null => {
    const value = given.get(field);
    if (value === undefined) return null;
    const date = new Date(/^\d{4}-\d\d-\d\d(T[\d:.]{5,18}(Z|[+-]\d\d:\d\d))?$/.test(value) ? value : Number.NaN);
    if (Number.isNaN(date.getTime()))
      throw invalid('filter', `has no date or time in ${field}: "${value.slice(0, 40)}"`);
    return date;
  };
  return {
    displayName: given.get('displayName') ?? null,
    type: given.get('type') ?? null,
    publisherId: given.get('publisherId') ?? null,
    createdAfter: time('createdAfter'),
    updatedAfter: time('updatedAfter'),
  };
}

/** Answers with agents of this node, in the order of their identifiers, which is the only one. */
export async function ardAgentsAnswer(
  ctx: HttpContext,
  { filter, orderBy, pageSize = DEFAULT_SIZE, pageToken }: Parsed<typeof ardAgents>['query'],
) {
  if (orderBy !== undefined && !/^identifier( ASC)?$/i.test(orderBy.trim()))
    throw invalid('orderBy', 'must be identifier: entries have no other order');
  const wanted = filter === undefined ? null : readListFilter(filter);
  const question = JSON.stringify([wanted]);
  const after = pageToken === undefined ? null : readPageToken(ctx, question, pageToken);
  const kinds = kindsOf(ctx);
  const kind = wanted?.type == null ? kinds[0] : kinds.find((each) => typeOf(each) === wanted.type);
  const publisher = wanted?.publisherId ?? publisherOf(ctx.baseUrl);
  if (kind === undefined || publisher !== publisherOf(ctx.baseUrl)) return { items: [] };
  const agents = await listCatalog(ctx, {
    after,
    limit: pageSize + 1,
    name: wanted?.displayName ?? null,
    createdAfter: wanted?.createdAfter ?? null,
    updatedAfter: wanted?.updatedAfter ?? null,
  });
  const last = agents[pageSize - 1];
  return {
    items: agents.slice(0, pageSize).map((agent) => agentEntry(ctx, agent, kind)),
    ...(agents.length > pageSize && last ? { pageToken: makePageToken(ctx, question, last.id) } : {}),
  };
}
