import { z } from 'zod';
import { Id, Timestamp, Usdc, WalletAddress } from './scalars.ts';

/** Payment terms of a 402 answer (spec, "Payment terms"). */
export const PaymentTerms = z.object({
  amount: Usdc,
  currency: z.literal('USDC'),
  network: z.string().meta({ examples: ['base'] }),
  recipient: WalletAddress,
  memo: z.string().describe('The id of the request (or deposit) that this payment will create.'),
});

const FieldProblems = z.object({ fields: z.array(z.object({ path: z.string(), message: z.string() })) });
const none = z.object({});

/** The way to get the scope or proof that a refused caller lacks. */
const Help = z.object({
  page: z.string().optional().describe("Path of the dashboard's page for it, at this node."),
  docs: z.string().describe('Path of the documentation, at this node.'),
  command: z
    .string()
    .optional()
    .describe('The command for it.')
    .meta({ examples: ['agentnet login'] }),
});
export type Help = z.infer<typeof Help>;
/** A field of the answers that refuse a caller who lacks a right or money. */
const help = Help.optional().describe(
  'How to get what is missing: every 401, 402 and 403 has it, and every lack of funds.',
);
const denied = z.object({ help });
const shortfall = z.object({ help, details: z.object({ required: Usdc, available: Usdc }) });

/** State of the first call under the same Idempotency-Key, or the change of a price, in a 409. */
const ConflictReason = z.enum(['still_running', 'answer_lost', 'price_raised']);
export type ConflictReason = z.infer<typeof ConflictReason>;

const AgentUnavailable = z.object({
  agentId: Id,
  lastSeen: Timestamp,
  alternatives: z.array(z.object({ agentId: Id, similarity: z.number().min(0).max(1) })),
});

/**
 * Every error of the API: its status, its cause, and the fields besides `code` and `message` inside `error`. The codes of 402, 422 and 503
 * are the spec's; the others are this project's (docs/decisions/0002-errors.md).
 */
export const errorCatalogue = {
  VALIDATION_ERROR: {
    status: 400,
    when: 'A field, parameter or header is missing, malformed or out of range.',
    extra: z.object({ details: FieldProblems }),
  },
  UNAUTHORIZED: { status: 401, when: 'The key or token is missing, malformed, revoked or expired.', extra: denied },
  PAYMENT_REQUIRED: {
    status: 402,
    when: 'The call has a price and came without a valid payment.',
    extra: z.object({
      payment: PaymentTerms,
      agentId: Id.optional().describe('The agent to be paid, when it replaces the requested one.'),
      details: z.object({ reason: z.string() }).optional(),
      help,
    }),
  },
  FORBIDDEN: { status: 403, when: 'The key lacks the scope, or the caller does not own the resource.', extra: denied },
  SPENDING_LIMIT_EXCEEDED: {
    status: 403,
    when: 'The call exceeds a spending limit of the API key: per call, per day, or its list of agents.',
    extra: z.object({
      help,
      details: z.object({ limit: z.enum(['perCall', 'perDay', 'allowedAgents']), allowed: Usdc.nullable() }),
    }),
  },
  NOT_FOUND: { status: 404, when: 'The resource does not exist, or the caller may not read it.', extra: none },
  CONFLICT: {
    status: 409,
    when: 'The state of the resource does not allow this.',
    extra: z.object({
      details: z
        .object({
          reason: ConflictReason.describe(
            '`still_running`: the first call under this Idempotency-Key is still running; repeat it later. `answer_lost`: the first call was done, but its answer is gone; read the object that it created, and do not create another. `price_raised`: the call has no limit and costs more than the account last paid this agent, or was quoted within a day.',
          ),
          price: Usdc.optional().describe('With `price_raised`: the price of the call.'),
          lastPrice: Usdc.optional().describe('With `price_raised`: the cost by the former terms.'),
        })
        .optional(),
    }),
  },
  INPUT_ALREADY_ANSWERED: {
    status: 409,
    when: 'The question was answered before, with another answer.',
    extra: none,
  },
  INPUT_NOT_REQUIRED: {
    status: 409,
    when: 'The request does not wait for an answer to this question.',
    extra: z.object({ details: z.object({ status: z.string().describe('The status of the request.') }) }),
  },
  INPUT_EXPIRED: { status: 409, when: 'The time for an answer is over.', extra: none },
  GONE: { status: 410, when: 'The resource was removed at the end of its retention period.', extra: none },
  FILE_GONE: {
    status: 410,
    when: 'The file is known, but its content is lost: the node was restored from a backup. Upload it again.',
    extra: none,
  },
  STORAGE_LIMIT_EXCEEDED: {
    status: 403,
    when: "The stored requests and files of the account use up its plan's storage. Nothing was charged.",
    extra: z.object({ help, details: z.object({ storedBytes: z.int(), limitBytes: z.int() }) }),
  },
  LENGTH_REQUIRED: { status: 411, when: 'The upload of a file has no `Content-Length`.', extra: none },
  PAYLOAD_TOO_LARGE: {
    status: 413,
    when: 'The body is larger than 1 MiB, or a file larger than the node stores.',
    extra: none,
  },
  DIGEST_MISMATCH: {
    status: 422,
    when: 'The uploaded content has another SHA-256 than the path or `Content-Digest` says. Nothing was stored.',
    extra: none,
  },
  INSUFFICIENT_FUNDS: {
    status: 422,
    when: "The client's treasury holds less than the cost of a call or the amount of a withdrawal.",
    extra: shortfall,
  },
  NO_AGENT_FITS: {
    status: 422,
    when: 'No online agent matches the task and capabilities within `maxCost` and the limits of the key. Nothing was charged.',
    extra: z.object({
      details: z.object({
        considered: z.int().min(0).describe('Online agents that match, at any price, and that the caller may call.'),
        cheapest: Usdc.nullable().describe('The lowest price of this call among them; null: there are none.'),
      }),
    }),
  },
  FILE_NOT_FOUND: {
    status: 422,
    when: 'The input refers to a file (`$file`) that the account does not have. Nothing was charged.',
    extra: none,
  },
  IDEMPOTENCY_KEY_REUSED: {
    status: 422,
    when: 'The Idempotency-Key was used for another request in the last 24 hours.',
    extra: none,
  },
  INSUFFICIENT_BALANCE: {
    status: 422,
    when: "The treasury of an agent holds less than the cost of the agent's call or the amount of a withdrawal.",
    extra: shortfall,
  },
  RATE_LIMITED: {
    status: 429,
    when: 'The rate limit of the plan is used up, or too many requests of the account are queued. Retry after `Retry-After` seconds. Nothing was charged.',
    extra: z.object({ details: z.object({ limit: z.int(), type: z.string(), retryAfterS: z.int() }) }),
  },
  INTERNAL_ERROR: { status: 500, when: 'The node failed; its log has the cause under the request id.', extra: none },
  AGENT_UNAVAILABLE: {
    status: 503,
    when: 'The agent is offline or not verified yet.',
    extra: AgentUnavailable,
  },
  PAYMENT_PENDING: {
    status: 503,
    when: 'The payment may have been executed, but is not confirmed yet. Repeat the identical request; do not sign a new payment.',
    extra: z.object({ details: z.object({ requestId: Id, transactionHash: z.string().nullable() }) }),
  },
  UNAVAILABLE: {
    status: 503,
    when: 'The node is starting, stopping, overloaded, or cannot reach its chain or its database. Repeat the identical request after `Retry-After`.',
    extra: z.object({
      details: z
        .object({
          outcome: z
            .enum(['nothing', 'unknown'])
            .describe(
              '`nothing`: the request changed nothing. `unknown`: it may have been executed; repeat it under the same Idempotency-Key, or with the same payment, to get its answer.',
            ),
          state: z
            .literal('cannot_settle')
            .optional()
            .describe('The token moves no payment of this node now, whoever signs it: do not sign another one.'),
          reason: z.string().optional().describe("The token's own words for it."),
        })
        .optional(),
    }),
  },
} as const satisfies Record<string, { status: number; when: string; extra: z.ZodObject }>;

export type ErrorCode = keyof typeof errorCatalogue;
export const errorCodes = Object.keys(errorCatalogue) as [ErrorCode, ...ErrorCode[]];

/** Required fields of this code, besides `code` and `message`. */
export type ErrorExtra<C extends ErrorCode> = z.infer<(typeof errorCatalogue)[C]['extra']>;

/** The error envelope of one code (spec, "Envelope"); a 402 may also have x402 v1 fields. */
export const errorEnvelope = (code: ErrorCode) =>
  z.object({
    status: z.literal('error'),
    error: errorCatalogue[code].extra.extend({
      code: z.literal(code),
      message: z.string(),
      requestId: z.string().describe('Echoes X-Request-Id.'),
    }),
  });
