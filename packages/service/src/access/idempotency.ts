import { createHash } from 'node:crypto';
import type { HasDb } from '../db/database.ts';
import { AppError } from '../lib/app-error.ts';
import type { HasClock } from '../lib/clock.ts';
import type { HasSecrets } from '../lib/secrets.ts';
import type { HasProcessId } from '../queue/heartbeat.ts';
import { dropExpiredKeys, dropKey, findKey, releaseKey, storeAnswer, takeKey } from './idempotency-store.ts';

type IdempotencyContext = HasDb & HasClock & HasSecrets & HasProcessId;

export interface KeyedRequest {
  readonly accountId: string;
  /** The `Idempotency-Key` header. */
  readonly key: string;
  /** Names the request: method, path, query and body, but no payment, as the paid repetition is the same request. */
  readonly fingerprint: Buffer;
}

const KEPT_MS = 86_400_000;

/** Whether what was made under a key is still what a repetition gets; later the key makes something new. */
export const isStillKept = (createdAt: Date, now: Date): boolean => now.getTime() - createdAt.getTime() < KEPT_MS;

export const fingerprintOf = (parts: readonly unknown[]): Buffer =>
  createHash('sha256').update(JSON.stringify(parts)).digest();

/**
 * Lets one request run under a key. Returns the body of the stored answer for a repetition and null for the one that is to run. Throws CONFLICT
 * while it runs elsewhere, and IDEMPOTENCY_KEY_REUSED for another request under the same key. A key whose process died is taken
 * over; ids made by `idFor` then find what that process had made.
 */
export async function enterKey(ctx: IdempotencyContext, request: KeyedRequest): Promise<string | null> {
  const now = ctx.clock.now();
  const expiredBefore = new Date(now.getTime() - KEPT_MS);
  const run = { fingerprint: request.fingerprint, worker: ctx.processId(), now, expiredBefore };
  if (await takeKey(ctx.db, request, run)) return null;
  const row = await findKey(ctx.db, request);
  if (!row) throw stillRunning();
  if (!row.fingerprint.equals(request.fingerprint))
    throw new AppError('IDEMPOTENCY_KEY_REUSED', 'This Idempotency-Key was used for another request; take a new one.');
  if (!row.answerSealed) throw stillRunning();
  return ctx.secrets.open(row.answerSealed);
}

const stillRunning = () =>
  new AppError('CONFLICT', 'A request with this Idempotency-Key is still running; repeat it later.');

/** Keeps the answer for every repetition in the next 24 hours. */
export const keepAnswer = (ctx: IdempotencyContext, request: KeyedRequest, body: string): Promise<void> =>
  storeAnswer(ctx.db, request, ctx.secrets.seal(body));

/** Keeps the key for this request without an answer: a stream is made again from what is stored. */
export const keepKey = (ctx: IdempotencyContext, request: KeyedRequest): Promise<void> => releaseKey(ctx.db, request);

/** Leaves the key free after a refusal, which a repetition may escape. */
export const freeKey = (ctx: IdempotencyContext, request: KeyedRequest): Promise<void> => dropKey(ctx.db, request);

/** The id of what a request makes: the same in every repetition with the same key. */
export function idUnderKey({ accountId, key, fingerprint }: KeyedRequest, prefix: string): string {
  const digest = createHash('sha256')
    .update(JSON.stringify([accountId, key, prefix]))
    .update(fingerprint)
    .digest('hex');
  return `${prefix}_${digest.slice(0, 26)}`;
}

export const forgetExpiredKeys = (ctx: HasDb & HasClock): Promise<void> =>
  dropExpiredKeys(ctx.db, new Date(ctx.clock.now().getTime() - KEPT_MS));
