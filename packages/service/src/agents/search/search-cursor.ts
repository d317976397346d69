import type { PageEnd } from '@agent-network/search-index/listing';
import { invalid } from '../../lib/app-error.ts';
import type { HasSecrets } from '../../lib/secrets.ts';

const PURPOSE = 'search-place';

/** A cursor that holds for this question only: `question` names query and sort. */
export function makeSearchCursor(ctx: HasSecrets, question: string, { keys, id }: PageEnd): string {
  const place = JSON.stringify([...keys, id]);
  return `${Buffer.from(place).toString('base64url')}.${ctx.secrets.authenticate(PURPOSE, [question, place])}`;
}

/** Throws VALIDATION_ERROR for a cursor that was altered, or made for another question or by another node. */
export function readSearchCursor(ctx: HasSecrets, question: string, cursor: string): PageEnd {
  const [text = '', code = ''] = cursor.split('.');
  const place = Buffer.from(text, 'base64url').toString();
  if (!ctx.secrets.isAuthentic(PURPOSE, [question, place], code))
    throw invalid('cursor', 'is not one that this node made for this query and sort');
  const values = JSON.parse(place) as string[];
  return { keys: values.slice(0, -1), id: values.at(-1) as string };
}
