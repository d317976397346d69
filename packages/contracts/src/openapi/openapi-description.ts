import { agentScopes, nodeScopes } from '../access/scopes.ts';
import type { Endpoint } from '../endpoint.ts';

/** True for a call that an agent can make with its identityToken. */
export const admitsAgent = ({ auth, scope, accountOnly }: Endpoint): boolean =>
  auth === 'agent' || (auth === 'key' && !accountOnly && (scope === undefined || agentScopes.includes(scope)));

function whoMayCall(row: Endpoint): string {
  if (row.sameOrigin) return "Only from the node's own pages: refused without the node's `Origin`.";
  if (row.keyless === 'pays')
    return 'Needs no key: the account is that of the paying wallet; a free call needs no wallet either. With a key the call is made as with `POST /invoke/{agentId}`.';
  if (row.auth === 'none') return 'Needs no key.';
  if (row.auth === 'agent') return 'Only for the agent itself: send its identityToken instead of an API key.';
  const key = row.scope ? `an API key with the scope \`${row.scope}\`` : 'an API key';
  return admitsAgent(row)
    ? `Needs ${key}, ${sessionFor(row)}, or an agent's identityToken.`
    : `Needs ${key}, or ${sessionFor(row)}.`;
}

function sessionFor({ scope, sessionProof }: Endpoint): string {
  if (sessionProof) return "a session with a signature of the account's wallet (`proof`)";
  return isNodeScope(scope) ? "a session of the operator's account" : 'a session';
}

const isNodeScope = (scope: Endpoint['scope']): boolean => nodeScopes.some((each) => each === scope);

/** Description of a call beyond its summary: authentication, rate limit, and form of the answer. */
export function operationDescription(row: Endpoint): string {
  return [
    whoMayCall(row),
    row.limit === 'invocations'
      ? 'Counts against the request limit and the invocation limit.'
      : 'Counts against the request limit.',
    ...(row.errors.includes('PAYMENT_REQUIRED')
      ? [
          'Without a payment the answer is 402 with terms, in the body and in `PAYMENT-REQUIRED`. Repeat the identical call with ' +
            'the signed payment in `PAYMENT-SIGNATURE` (x402 v2) or `X-PAYMENT` (v1).',
        ]
      : []),
    ...(row.stream === 'always'
      ? ['Answers with server-sent events; a lost stream is resumed with `Last-Event-ID`.']
      : []),
    ...(row.stream === 'on_request'
      ? [
          `With \`Accept: text/event-stream\`${row.body ? ' and `"stream": true`' : ''} the answer is a stream of server-sent events.`,
        ]
      : []),
  ].join(' ');
}
