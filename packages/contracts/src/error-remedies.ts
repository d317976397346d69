import type { ErrorCode, Help } from './errors.ts';
import type { FailureReason } from './invocations/invocations.ts';

/** Remedy of each error, for the caller. Complete by its type: a new code without a remedy does not compile. */
export const errorRemedies: Readonly<Record<ErrorCode, string>> = {
  VALIDATION_ERROR:
    '`details.fields` names each field and what is wrong with it. Fix the request; retrying it unchanged will fail again.',
  UNAUTHORIZED:
    'Send `Authorization: Bearer` with a key that is not revoked or expired. Create one in the dashboard under API keys, or sign in with a wallet (`POST /auth/challenge`, `POST /auth/sign-in`).',
  PAYMENT_REQUIRED:
    'Pay the terms in `error.payment` and repeat the identical call with the payment: the SDK does it with a payer. Or fill a treasury once, and calls are paid from it. `details.reason` says why a payment that you sent was rejected.',
  FORBIDDEN:
    'Use a key that has the scope which the reference names for this call, or the key of the account that owns the object. Scopes of a key do not change: create another key.',
  SPENDING_LIMIT_EXCEEDED:
    '`details.limit` names the limit of your key and `details.allowed` what it still allows. Call a cheaper agent, wait for the next day, or use a key with other limits.',
  NOT_FOUND:
    'Check the id, and that it belongs to the account of your key. Objects of other accounts get the same answer.',
  CONFLICT:
    'Read the object and see its state. With `details.reason` `still_running` the first call under the same `Idempotency-Key` still runs: repeat it a second later, and the answer will be its answer. With `answer_lost` it was done, but its answer is gone: read the object that it created, and do not create another. With `price_raised`, nothing was charged: repeat the call with `maxCost` or a quote if you agree to the new price.',
  INPUT_ALREADY_ANSWERED: 'Read the request: the first answer counts. A question takes one answer.',
  INPUT_NOT_REQUIRED:
    'Read the request. `details.status` is its state; while that is `input_required`, answer with the `inputId` of its `inputRequest`.',
  INPUT_EXPIRED:
    'The request ends as `input_timeout` and is refunded. Call again, with a longer `inputTimeout` if people have to answer.',
  GONE: 'The result was deleted. Keep results on your side, and read them before the end of their retention period.',
  FILE_GONE: 'Upload the content again, by `PUT /files/{sha256}`: it gets the same id.',
  STORAGE_LIMIT_EXCEEDED:
    'Delete files, wait until old requests reach the end of their retention period, ask for smaller results, or move to a plan with more storage.',
  LENGTH_REQUIRED:
    'Send the length of the content in `Content-Length`; most clients do it for a body that they have whole.',
  PAYLOAD_TOO_LARGE: 'Send less than 1 MiB. Upload large contents as files (`PUT /files/{sha256}`), and refer to them.',
  DIGEST_MISMATCH:
    'The content was changed or cut off on its way, or the hash is of something else. Hash the bytes that you send, and upload again.',
  INSUFFICIENT_FUNDS:
    'Deposit at least `details.required` less `details.available` into the treasury, then repeat the call; or withdraw at most `details.available`.',
  NO_AGENT_FITS:
    'Raise `maxCost` to `details.cheapest`, ask for fewer capabilities, or word the task differently. Where `details.cheapest` is not above `maxCost`, raising it does not help: name a capability or an agent. `details.considered` counts the agents that match at any price.',
  FILE_NOT_FOUND: 'Upload the file with the same account, by `PUT /files/{sha256}`, and repeat the call.',
  IDEMPOTENCY_KEY_REUSED:
    'Make a new `Idempotency-Key` for each new call, and keep it only for repetitions of the same one.',
  INSUFFICIENT_BALANCE:
    "Deposit into the agent's treasury: calls with an identityToken are paid from it. Withdraw at most `details.available`.",
  RATE_LIMITED:
    'Wait for `Retry-After` seconds and repeat. `details.type` names the limit. Spread calls by `X-RateLimit-Remaining`, use webhooks instead of polling, or move to a plan with more.',
  INTERNAL_ERROR:
    "Repeat the identical call once, under the same `Idempotency-Key`. If it fails again, tell the node's operator `error.requestId`.",
  AGENT_UNAVAILABLE:
    'Call one of `error.alternatives`, or send `"fallback": true` and the node does. Nothing was charged.',
  PAYMENT_PENDING:
    'Repeat the identical call, with the same payment, after `Retry-After`. Do not sign a new payment: the first may have moved money, and it counts.',
  UNAVAILABLE:
    'Repeat the identical call after `Retry-After`, under the same `Idempotency-Key` or with the same payment. `details.outcome` says whether the first may have been executed.',
};

const keysHelp = { page: '/dashboard/keys', docs: '/docs/conventions#keys' } as const;
const treasuryHelp = {
  page: '/dashboard/payments',
  docs: '/docs/paying#treasury',
  command: 'agentnet deposit',
} as const;

/** Default `help` of each 401 and 403, and of each lack of money. */
export const errorHelp: Readonly<Partial<Record<ErrorCode, Help>>> = {
  UNAUTHORIZED: { ...keysHelp, command: 'agentnet login' },
  FORBIDDEN: { ...keysHelp, command: 'agentnet whoami' },
  SPENDING_LIMIT_EXCEEDED: { ...keysHelp, command: 'agentnet keys list' },
  PAYMENT_REQUIRED: { ...treasuryHelp, docs: '/docs/paying#paying' },
  INSUFFICIENT_FUNDS: treasuryHelp,
  INSUFFICIENT_BALANCE: treasuryHelp,
  STORAGE_LIMIT_EXCEEDED: { page: '/dashboard/usage', docs: '/docs/conventions#limits' },
};

/** Explanation and remedy of each failure of a request, for the caller. */
export const failureRemedies: Readonly<Record<FailureReason, string>> = {
  agent_error:
    'The agent answered with an error; `error.message` has it. Fix the input if the message says so; otherwise call another agent.',
  agent_unreachable:
    "The agent's endpoint did not answer, even after retries. Call again later, or call another agent.",
  deadline_exceeded:
    'The agent took longer than the deadline of the request. Set a later `deadline` in the call, at most 24 hours from now, or call a faster agent.',
  invalid_response: "The agent's answer breaks the contract. Only its owner can fix that: call another agent.",
  response_too_large: 'The result is larger than 1 MiB. Ask for less.',
  agent_redirected:
    'The endpoint answered with a redirect, which the node does not follow. Its owner has to register the new address.',
  agent_removed: 'The owner removed the agent before it had answered. Call another one.',
  agent_needs_input:
    'The agent asked a follow-up question. Send `interactive: true` to be asked, or everything that it needs in `input`.',
  payment_failed: 'The payment did not settle on chain, and moved nothing. Sign a new one.',
  bill_too_high: 'The agent asked for more than its price. Only its owner can fix that.',
  bill_not_payable: 'The agent asked for a payment that the node cannot make. Only its owner can fix that.',
  bill_repeated: 'The agent was paid and asked to be paid again. Call another agent.',
  result_invalid:
    'The result does not fit the schema that the agent declares. The failure counts in its reputation: call another agent.',
  input_invalid: 'The input does not fit the schema that the agent declares. Read its `types` and fix the input.',
  node_restored:
    'The node was restored from a backup, and found on chain that the request had been refunded; how it had ended is lost. Call again.',
  input_timeout: 'The time for an answer to the agent is over. Call again, and answer before `expiresAt`.',
  input_declined:
    'The agent could not do the work without the answer that was declined. Call again, and answer its question.',
};
