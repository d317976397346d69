import { createHash } from 'node:crypto';
import type { HasDb } from '../../db/database.ts';
import type { Tx } from '../../db/sql.ts';
import { AppError } from '../../lib/app-error.ts';
import type { HasClock } from '../../lib/clock.ts';
import type { IdPrefix } from '../../lib/id.ts';
import { failpoint } from '../../lib/process/failpoint.ts';
import type { HasSecrets } from '../../lib/secrets.ts';
import type { HasProcessId } from '../../queue/heartbeat.ts';
import type { Caller } from '../caller/caller.ts';
import {
  dropExpiredKeys,
  dropKey,
  dropSecrets,
  findKey,
  type IdempotencyRow,
  type KeyCaller,
  type LeftKey,
  releaseKey,
  releaseKeys,
  storeAnswer,
  takeKey,
  takeSecret,
} from './idempotency-store.ts';

type IdempotencyContext = HasDb & HasClock & HasSecrets & HasProcessId;

export interface KeyedRequest extends KeyCaller {
  readonly accountId: string;
  /** The `Idempotency-Key` header. */
  readonly key: string;
  /** Names the request: method, path, query and body, but no payment, as the paid repetition is the same request. */
  readonly fingerprint: Buffer;
}

/** The answer that repetitions get: the body, without its secret, and the headers that are of this answer and of no other. */
export interface KeptAnswer {
  readonly body: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Kept apart, until the answer that shows it is on its way. */
  readonly secret?: string | null;
}

/** A kept answer, and whether nobody was given its secret yet. */
export interface FoundAnswer extends KeptAnswer {
  readonly hasSecret: boolean;
}

/** Who a caller is to an Idempotency-Key: its API key, its session or the agent itself, and its rights. */
export function keyCallerOf(caller: Exclude<Caller, { kind: 'anonymous' }>): KeyCaller {
  return caller.kind === 'agent'
    ? { callerId: caller.agentId, scopes: [] }
    : { callerId: caller.keyId, scopes: caller.scopes };
}

/** A request that this process runs under its key. */
export interface KeyedRun extends KeyedRequest {
  readonly worker: string;
  readonly takenAt: Date;
  /** Whether it began before, and nobody knows how far it came. */
  readonly isRepeated: boolean;
}

const KEPT_MS = 86_400_000;
/** How long a secret waits for the repetition of a call whose process died before it could show it. */
const SECRET_KEPT_MS = 600_000;

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
  const taken = await takeKey(ctx.db, held, { ...request, now, expiredBefore });
  failpoint('after-take-key');
  return taken && { ...held, ...taken, takenAt: now };
}

/**
 * The answer for a repetition. Throws CONFLICT while there is none, IDEMPOTENCY_KEY_REUSED when the key is another request's, and
 * FORBIDDEN for who is not the caller of the first and lacks a right that one had.
 */
export async function findAnswer(ctx: HasDb & HasSecrets, request: KeyedRequest): Promise<FoundAnswer> {
  const row = await findKey(ctx.db, request);
  if (!row) throw stillRunning();
  if (!row.fingerprint.equals(request.fingerprint))
    throw new AppError('IDEMPOTENCY_KEY_REUSED', 'This Idempotency-Key was used for another request; take a new one.');
  requireRights(row, request);
  if (!row.answerSealed) throw stillRunning();
  return { body: ctx.secrets.open(row.answerSealed), headers: row.answerHeaders ?? {}, hasSecret: row.hasSecret };
}

function requireRights(row: IdempotencyRow, { callerId, scopes }: KeyCaller): void {
  if (row.callerId === callerId || row.scopes.every((scope) => scopes.includes(scope))) return;
  throw new AppError(
    'FORBIDDEN',
    'The call under this Idempotency-Key was made with rights that you lack: repeat it as who made it, or take a new key.',
  );
}

/**
 * The secret of an answer, once: for the caller who made the call, within ten minutes, and if no answer has shown it. Whoever gets it
 * has to show it: the stored copy is gone by then.
 */
export async function takeSecretOnce(
  ctx: HasDb & HasClock & HasSecrets,
  request: KeyedRequest,
): Promise<string | null> {
  failpoint('before-take-secret');
  const sealed = await takeSecret(ctx.db, request, { callerId: request.callerId, now: ctx.clock.now() });
  failpoint('after-take-secret');
  return sealed && ctx.secrets.open(sealed);
}

const stillRunning = () =>
  new AppError('CONFLICT', 'A request with this Idempotency-Key is still running; repeat it later.');

/** Keeps the answer for every repetition in the next 24 hours; false when the run is no longer ours. */
export async function keepAnswer(
  ctx: HasDb & HasClock & HasSecrets,
  run: KeyedRun,
  answer: KeptAnswer,
): Promise<boolean> {
  failpoint('before-keep-answer');
  const isKept = await storeAnswer(ctx.db, run, sealed(ctx, answer));
  failpoint('after-keep-answer');
  return isKept;
}

const sealed = (ctx: HasClock & HasSecrets, { body, headers, secret = null }: KeptAnswer) => ({
  sealed: ctx.secrets.seal(body),
  headers,
  secret: secret === null ? null : { sealed: ctx.secrets.seal(secret), until: secretEnd(ctx.clock.now()) },
});

const secretEnd = (now: Date) => new Date(now.getTime() + SECRET_KEPT_MS);

/** The same in the transaction of what the answer tells. Throws CONFLICT when the run is no longer ours: another does it. */
export async function keepAnswerIn(
  ctx: HasClock & HasSecrets,
  tx: Tx,
  run: KeyedRun,
  answer: KeptAnswer,
): Promise<void> {
  if (!(await storeAnswer(tx, run, sealed(ctx, answer)))) throw stillRunning();
}

/** Keeps the key for this request without an answer: a stream is made again from what is stored. */
export const keepKey = (ctx: HasDb, run: KeyedRun): Promise<void> => releaseKey(ctx.db, run);

/** The same for keys of which it could not be told how they ended. */
export const releaseLeft = (ctx: HasDb, keys: readonly LeftKey[]): Promise<void> => releaseKeys(ctx.db, keys);

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

/** Forgets the secrets of answers that nobody asked for again in time. */
export const forgetSecrets = (ctx: HasDb & HasClock): Promise<void> => dropSecrets(ctx.db, ctx.clock.now());
