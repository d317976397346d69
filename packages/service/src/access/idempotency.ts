import { createHash } from 'node:crypto';
import type { HasDb } from '../db/database.ts';
import type { Tx } from '../db/sql.ts';
import { AppError } from '../lib/app-error.ts';
import type { HasClock } from '../lib/clock.ts';
import { failpoint } from '../lib/failpoint.ts';
import type { IdPrefix } from '../lib/id.ts';
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

/** The answer that repetitions get: the body, and the headers that are of this answer and of no other. */
export interface KeptAnswer {
  readonly body: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** A request that this process runs under its key. */
export interface KeyedRun extends KeyedRequest {
  readonly worker: string;
  /** Whether it began before, and nobody knows how far it came. */
  readonly isRepeated: boolean;
}

const KEPT_MS = 86_400_000;

/** Whether what was made under a key is still what a repetition gets; later the key makes something new. */
export const isStillKept = (createdAt: Date, now: Date): boolean => now.getTime() - createdAt.getTime() < KEPT_MS;

export const fingerprintOf = (parts: readonly unknown[]): Buffer =>
  createHash('sha256').update(JSON.stringify(parts)).digest();

/**
 * Lets a request run under its key, which no other of this process has in hand; null when it is not to run. A key of the same
 * request whose process died is taken over, as is one that was ours: it is not in hand.
 */
export async function takeUp(ctx: IdempotencyContext, request: KeyedRequest): Promise<KeyedRun | null> {
  const now = ctx.clock.now();
  const expiredBefore = new Date(now.getTime() - KEPT_MS);
  const held = { ...request, worker: ctx.processId() };
  failpoint('before-take-key');
  const taken = await takeKey(ctx.db, held, { fingerprint: request.fingerprint, now, expiredBefore });
  failpoint('after-take-key');
  return taken && { ...held, ...taken };
}

/** The answer for a repetition. Throws CONFLICT while there is none, and IDEMPOTENCY_KEY_REUSED when the key is another request's. */
export async function findAnswer(ctx: HasDb & HasSecrets, request: KeyedRequest): Promise<KeptAnswer> {
  const row = await findKey(ctx.db, request);
  if (!row) throw stillRunning();
  if (!row.fingerprint.equals(request.fingerprint))
    throw new AppError('IDEMPOTENCY_KEY_REUSED', 'This Idempotency-Key was used for another request; take a new one.');
  if (!row.answerSealed) throw stillRunning();
  return { body: ctx.secrets.open(row.answerSealed), headers: row.answerHeaders ?? {} };
}

const stillRunning = () =>
  new AppError('CONFLICT', 'A request with this Idempotency-Key is still running; repeat it later.');

/** Keeps the answer for every repetition in the next 24 hours; false when the run is no longer ours. */
export async function keepAnswer(ctx: HasDb & HasSecrets, run: KeyedRun, answer: KeptAnswer): Promise<boolean> {
  failpoint('before-keep-answer');
  const isKept = await storeAnswer(ctx.db, run, sealed(ctx, answer));
  failpoint('after-keep-answer');
  return isKept;
}

const sealed = (ctx: HasSecrets, { body, headers }: KeptAnswer) => ({ sealed: ctx.secrets.seal(body), headers });

/** The same in the transaction of what the answer tells. Throws CONFLICT when the run is no longer ours: another does it. */
export async function keepAnswerIn(ctx: HasSecrets, tx: Tx, run: KeyedRun, answer: KeptAnswer): Promise<void> {
  if (!(await storeAnswer(tx, run, sealed(ctx, answer)))) throw stillRunning();
}

/** Keeps the key for this request without an answer: a stream is made again from what is stored. */
export const keepKey = (ctx: HasDb, run: KeyedRun): Promise<void> => releaseKey(ctx.db, run);

/** Leaves the key free after a refusal, which a repetition may escape; an answer that was kept stays. */
export const freeKey = (ctx: HasDb, run: KeyedRun): Promise<void> => dropKey(ctx.db, run);

/** The nth id of a kind under a key: the same in every repetition, on every process of the node, and nobody else's. */
export function idUnderKey(ctx: HasSecrets, request: KeyedRequest, prefix: IdPrefix, nth: number): string {
  const { accountId, key, fingerprint } = request;
  const code = ctx.secrets.authenticate('id', [accountId, key, fingerprint.toString('hex'), prefix, String(nth)]);
  return `${prefix}_${Buffer.from(code, 'base64url').toString('hex').slice(0, 26)}`;
}

export const forgetExpiredKeys = (ctx: HasDb & HasClock): Promise<void> =>
  dropExpiredKeys(ctx.db, new Date(ctx.clock.now().getTime() - KEPT_MS));
