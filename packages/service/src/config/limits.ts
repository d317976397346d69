import { type Plan, UNLIMITED } from '@agent-network/contracts/access/access';
import { type Env, integer } from '../lib/read-env.ts';
import type { Retention } from '../lib/retention.ts';

/** Calls that a rate limit of a plan counts: all, or only those that invoke an agent. */
export type LimitClass = 'api' | 'invocations';
/** Calls per hour, by plan; listed online nodes have limits of their own, on any plan. */
export type PlanLimits = Readonly<Record<Plan | 'anonymous' | 'node', Readonly<Record<LimitClass, number>>>>;
/** Maximum number that an account of a plan may have at a time; null: unlimited. */
export type PlanCaps = Readonly<Record<Plan, { readonly keys: number; readonly agents: number | null }>>;

/** Limits of the invocations that this process runs and has waiting. */
export interface SlotLimits {
  /** Maximum concurrent calls at the back; the same number applies in front. */
  readonly max: number;
  /** Maximum of them for one tenant. */
  readonly maxPerTenant: number;
  /** Maximum of them for one agent. */
  readonly maxPerAgent: number;
  /** Maximum queued requests of one tenant. */
  readonly maxWaiting: number;
}

export interface Limits {
  readonly retention: Retention;
  /** Maximum bytes stored for the requests of an account, by plan; a listed online node has its own limit, on any plan. */
  readonly storageLimits: Readonly<Record<Plan | 'node', number>>;
  /** Maximum concurrent connections of one network address, and in total. */
  readonly connectionLimits: { readonly max: number; readonly maxPerAddress: number };
  readonly slotLimits: SlotLimits;
  /** Time limit and maximum number of writing requests that wait to be started while the node is overloaded. */
  readonly admissionLimits: { readonly maxQueueMs: number; readonly maxQueued: number };
  readonly planLimits: PlanLimits;
  readonly planCaps: PlanCaps;
  /** Calls of `POST /auth/*` per hour that one network address may make: this bounds how fast it can open accounts. */
  readonly signInsPerHour: number;
  /** Invocations per hour that a wallet may pay for without an API key. */
  readonly keylessPerHour: number;
  /** Calls of price 0 per hour of one account, and of one network address across accounts. */
  readonly freeCallsPerHour: number;
  /** Documents, files and health checks per hour that one network address may have from this process. */
  readonly documentsPerHour: number;
  /** Bytes of documents that a network address is sent in a minute, by each process. */
  readonly documentBytesPerMinute: number;
  /** Bytes of large answers and streams that a network address or an account reads in a minute, from each process. */
  readonly answerBytesPerMinute: number;
  /** Bytes of streams and large results that an account stores in a minute, in each process, which stores four times as many in all. */
  readonly storedBytesPerMinute: number;
}

const MIB = 1024 * 1024;
const MAX_LIMIT = 2_000_000_000;

/**
 * `isPrivate`: only this machine reaches the node, so that network addresses do not distinguish clients. `isTest`: its chain has no real
 * money, so that the free plan may have limits fit for development.
 */
export function readLimits(env: Env, { isPrivate, isTest }: { isPrivate: boolean; isTest: boolean }): Limits {
  const limit = (name: string, fallback: number) => integer(env, name, fallback, 1, MAX_LIMIT);
  return {
    slotLimits: slotLimitsOf(env),
    admissionLimits: {
      maxQueueMs: integer(env, 'MAX_QUEUE_MS', 5000, 10, 30_000),
      maxQueued: integer(env, 'MAX_QUEUED_REQUESTS', 2048, 1, 100_000),
    },
    retention: {
      resultDays: integer(env, 'KEEP_RESULTS_DAYS', 90, 2, 36_500),
      chunkDays: integer(env, 'KEEP_STREAMS_DAYS', 7, 2, 36_500),
      eventDays: integer(env, 'KEEP_EVENTS_DAYS', 30, 2, 36_500),
    },
    storageLimits: {
      free: 256 * MIB,
      pro: 4096 * MIB,
      enterprise: integer(env, 'ENTERPRISE_STORAGE_MIB', 1_000_000, 1, 1_000_000_000) * MIB,
      node: integer(env, 'NODE_STORAGE_MIB', 1_000_000, 1, 1_000_000_000) * MIB,
    },
    connectionLimits: {
      max: integer(env, 'MAX_CONNECTIONS', 10_000, 10, 1_000_000),
      maxPerAddress: integer(env, 'MAX_CONNECTIONS_PER_ADDRESS', isPrivate ? 10_000 : 256, 1, 1_000_000),
    },
    planLimits: {
      free: {
        api: limit('FREE_REQUESTS_PER_HOUR', isTest ? 5000 : 100),
        invocations: limit('FREE_INVOCATIONS_PER_HOUR', isTest ? 500 : 10),
      },
      pro: { api: 1000, invocations: 100 },
      enterprise: {
        api: limit('ENTERPRISE_REQUESTS_PER_HOUR', UNLIMITED),
        invocations: limit('ENTERPRISE_INVOCATIONS_PER_HOUR', UNLIMITED),
      },
      anonymous: { api: limit('ANONYMOUS_REQUESTS_PER_HOUR', isPrivate ? UNLIMITED : 1000), invocations: 1 },
      node: {
        api: limit('NODE_REQUESTS_PER_HOUR', 1_000_000),
        invocations: limit('NODE_INVOCATIONS_PER_HOUR', 100_000),
      },
    },
    planCaps: {
      free: { keys: 10, agents: 20 },
      pro: { keys: 50, agents: 200 },
      enterprise: { keys: integer(env, 'ENTERPRISE_KEYS', 1000, 1, 1_000_000), agents: null },
    },
    signInsPerHour: limit('SIGN_INS_PER_HOUR', isPrivate ? UNLIMITED : 120),
    keylessPerHour: limit('KEYLESS_INVOCATIONS_PER_HOUR', isPrivate ? UNLIMITED : 100),
    freeCallsPerHour: limit('ZERO_PRICE_CALLS_PER_HOUR', isPrivate ? UNLIMITED : 100),
    documentsPerHour: limit('DOCUMENTS_PER_HOUR', isPrivate ? UNLIMITED : 36_000),
    documentBytesPerMinute: limit('DOCUMENT_BYTES_PER_MINUTE', isPrivate ? UNLIMITED : 32 * MIB),
    answerBytesPerMinute: limit('ANSWER_BYTES_PER_MINUTE', isPrivate ? UNLIMITED : 64 * MIB),
    storedBytesPerMinute: limit('STORED_BYTES_PER_MINUTE', isPrivate ? UNLIMITED : 64 * MIB),
  };
}

/** By default an account has a quarter of the slots, and an agent half, so that others always find one. */
function slotLimitsOf(env: Env): SlotLimits {
  const max = integer(env, 'MAX_RUNNING', 512, 1, 100_000);
  return {
    max,
    maxPerTenant: integer(env, 'MAX_RUNNING_PER_ACCOUNT', Math.ceil(max / 4), 1, 100_000),
    maxPerAgent: integer(env, 'MAX_RUNNING_PER_AGENT', Math.ceil(max / 2), 1, 100_000),
    maxWaiting: integer(env, 'MAX_WAITING_PER_ACCOUNT', 1000, 1, 1_000_000),
  };
}
