import type { HasSecrets } from '../lib/secrets.ts';

/** Marks the token, so that logs can leave it out; the form is that of `keylessReadHeaders`. */
const PREFIX = 'anr_';

/** The token that reads one request without an API key. Nothing is stored: it is a MAC over the id, and ends with the node's secret. */
export const resultTokenOf = ({ secrets }: HasSecrets, requestId: string): string =>
  PREFIX + secrets.authenticate('result-token', [requestId]);

/** True if the token reads this request; takes the same time for every token of its length. */
export const isResultToken = ({ secrets }: HasSecrets, requestId: string, token: string): boolean =>
  token.startsWith(PREFIX) && secrets.isAuthentic('result-token', [requestId], token.slice(PREFIX.length));
