import { api } from '@agent-network/contracts/api';
import type { Endpoint, Face } from '@agent-network/contracts/endpoint';
import { madeOnce } from '../../lib/made-once.ts';

/** Longer paths are no slips, and are not compared. */
const MAX_PATH_CHARS = 200;

/** What clients of the OpenAI API append to a base URL: a wrong one was configured. */
const OPENAI_PATH = /\/(?:chat\/completions|completions|responses|embeddings|models)(?:\/[^/]*)?\/*$/;

const rows = madeOnce(() =>
  Object.values<Endpoint>(api).map(({ method, path }) => ({
    method,
    path,
    whole: new RegExp(`^${path.replace(/\{\w+\}/g, '[^/]+')}$`),
    ending: new RegExp(`${path.replace(/\{\w+\}/g, '[^/]+')}$`),
  })),
);

const priced = madeOnce(() =>
  Object.values<Endpoint>(api)
    .filter(({ keyless }) => keyless === 'pays')
    .map(({ method, path, face }) => ({
      ...{ method, face },
      whole: new RegExp(`^${path.replace(/\{\w+\}/g, '[^/]+')}$`),
    })),
);

/** The methods of a path at which wallets pay, where its face is served: their clients tell a wrong method by 405. None: it is no such path. */
export const pricedMethodsOf = (faces: ReadonlySet<Face>, path: string): readonly string[] =>
  priced().flatMap(({ method, face, whole }) =>
    path.length <= MAX_PATH_CHARS && whole.test(path) && (!face || faces.has(face)) ? [method] : [],
  );

/**
 * The likely intention of a call that does not exist, as a sentence: the methods of its path, the path without what stands before it
 * (`/api/agents`) or behind it (`/agents/`), or the path that ends with it (`/webhooks`). Null: nothing is like it.
 */
export function callMeantBy(method: string, path: string): string | null {
  if (path.length > MAX_PATH_CHARS) return null;
  if (OPENAI_PATH.test(path)) return 'Clients of the OpenAI API take the base URL of this node with /v1 behind it.';
  const methods = rows().flatMap((row) => (row.whole.test(path) ? [row.method] : []));
  if (methods.length > 0) return `This path takes ${[...new Set(methods)].join(' and ')}.`;
  const trimmed = path.replace(/\/+$/, '');
  const [longest] = rows()
    .filter((row) => row.method === method && row.ending.test(trimmed))
    .sort((a, b) => b.path.length - a.path.length);
  if (longest) return `Did you mean ${method} ${longest.path}?`;
  const ends = rows().filter((row) => row.method === method && trimmed !== '' && row.path.endsWith(trimmed));
  return ends.length === 1 ? `Did you mean ${method} ${ends[0]?.path}?` : null;
}
