import { api } from '@agent-network/contracts/api';
import type { Endpoint } from '@agent-network/contracts/endpoint';

const ID = /^agt_([0-9a-z]{26})$/;
const ADDRESS = /^[0-9a-z-]{1,80}-([0-9a-z]{26})$/;
const SLUG = /^[0-9a-z]+(-[0-9a-z]+)*$/;
/** Longest name of an agent: longer texts are not normalized, which takes long. */
const LONGEST_NAME = 120;
const MAX_NAME_CHARS = 60;

const wordsOf = (name: string): string =>
  name
    .normalize('NFKD')
    .replace(/\p{M}+/gu, '')
    .toLowerCase()
    .replace(/[^0-9a-z]+/g, '-')
    .slice(0, MAX_NAME_CHARS)
    .replace(/^-|-$/g, '');

/**
 * Last part of the address of an agent's page: words of its name, then its id, which alone is looked up. So an agent can't take another's
 * address, and addresses with a former name keep working.
 */
export function agentSlug({ id, name }: { readonly id: string; readonly name: string }): string {
  const ending = ID.exec(id)?.[1];
  const words = wordsOf(name);
  return ending === undefined || words === '' ? id : `${words}-${ending}`;
}

/** The id of the agent that the last part of an address names; null: it is neither such a part nor an id. */
export function agentIdOf(part: string): string | null {
  if (ID.test(part)) return part;
  const ending = ADDRESS.exec(part)?.[1];
  return ending === undefined ? null : `agt_${ending}`;
}

/** Words that have a place of their own where an agent is named in a path, such as `auto` in `/invoke/auto`. */
const reserved: ReadonlySet<string> = new Set(
  Object.values<Endpoint>(api).flatMap(
    ({ path }) => /^\/(?:agents|invoke|identity|x402)\/([^/{]+)/.exec(path)?.[1] ?? [],
  ),
);

/**
 * The slug of a name, such as `case-converter`; null: it has none. A name with letters of another alphabet has none: without them it would
 * be another name.
 */
export function slugOf(name: string): string | null {
  if (name.length > LONGEST_NAME) return null;
  if (/(?!\p{ASCII})[\p{L}\p{N}]/u.test(name.normalize('NFKD'))) return null;
  const slug = wordsOf(name);
  return SLUG.test(slug) && !reserved.has(slug) && agentIdOf(slug) === null && !/^[0-9a-z]{26}$/.test(slug)
    ? slug
    : null;
}

/** An agent that took a slug, in the order in which they took it. */
export interface SlugTaker {
  readonly id: string;
  readonly accountId: string;
  readonly name: string;
  readonly isRemoved: boolean;
}

/** The one agent that a text means, or all that it may mean; an empty list: no agent has it. */
export type Meant = { readonly id: string } | { readonly ids: readonly string[] };

/**
 * Finds the agent that a slug or name means, among all that took the slug. A slug means the first of them for good; after its removal, the
 * next one of the same account. A name means an agent only if no other has it and its slug means the same agent: a stranger gains nothing
 * by registering a name again.
 */
export function agentMeant(text: string, takers: readonly SlugTaker[]): Meant {
  const [first] = takers;
  if (!first) return { ids: [] };
  const present = takers.filter(({ isRemoved }) => !isRemoved);
  const holder = present.find(({ accountId }) => accountId === first.accountId) ?? first;
  if (SLUG.test(text)) return { id: holder.id };
  const ids = present.filter(({ name }) => plainName(name) === plainName(text)).map(({ id }) => id);
  return ids.length === 1 && ids[0] === holder.id ? { id: holder.id } : { ids };
}

const plainName = (name: string): string => name.normalize('NFKC').toLowerCase().replace(/\s+/g, ' ').trim();
