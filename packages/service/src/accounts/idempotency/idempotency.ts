import { createHash } from 'node:crypto';
import type { NodeKeys } from '../../chain/keys/node-keys.ts';
import { AppError } from '../../lib/app-error.ts';
import { DAY_MS } from '../../lib/duration.ts';
import type { IdPrefix } from '../../lib/id.ts';
import { failpoint } from '../../lib/process/failpoint.ts';
import { removeInSteps } from '../../lib/retention.ts';
import type { Store } from '../../store/database.ts';
import type { NodeProcess } from '../../store/queue/heartbeat.ts';
import type { Tx } from '../../store/sql.ts';
import type { AccountServices } from '../account-services.ts';
import type { Caller } from '../caller.ts';
import {
  answersStored,
  dropExpiredKeys,
  dropKey,
  dropKeys,
  dropSecrets,
  findKey,
  freeKeysTaken,
  type IdempotencyRow,
  isKeyUsed,
  type KeyCaller,
  type KeyToTake,
  type LeftKey,
  releaseKey,
  releaseKeys,
  type SealedAnswer,
  storeAnswer,
  takeFreeKeys,
  takeSecret,
} from './idempotency-store.ts';

type TakeContext = AccountServices & Store & NodeProcess;

export interface KeyedRequest extends KeyCaller {
  readonly accountId: string;
  /** The `Idempotency-Key` header. */
  readonly key: string;
  /** Hash of method, path, query and body, without the payment: the paid repeat is the same request. */
  readonly fingerprint: Buffer;
}

/** The answer for repeats: the body without its secret, and the headers specific to this answer. */
export interface KeptAnswer {
  readonly body: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Stored apart until the answer that shows it is sent. */
  readonly secret?: string | null;
}

/** A stored answer, and whether its secret is still to be shown. */
export interface FoundAnswer extends KeptAnswer {
  readonly hasSecret: boolean;
}

/** Identity of a caller for an Idempotency-Key: its API key, its session or the agent itself, with its rights. */
export function keyCallerOf(caller: Exclude<Caller, { kind: 'anonymous' }>): KeyCaller {
  return caller.kind === 'agent'
    ? { callerId: caller.agentId, scopes: [] }
    : { callerId: caller.keyId, scopes: caller.scopes };
}

/** A request that this process runs under its key. */
export interface KeyedRun extends KeyedRequest {
  readonly worker: string;
  readonly takenAt: Date;
  /** True when it began before and its progress is unknown. */
  readonly isRepeated: boolean;
}

/** Time for which a key belongs to its request, and its answer is stored. */
export const KEPT_MS = DAY_MS;
/** Time for a repeat to fetch a secret that a process could not deliver before it died. */
const SECRET_KEPT_MS = 600_000;

/** True while repeats get the result made under the key; later the key makes a new one. */
export const isStillKept = (createdAt: Date, now: Date): boolean => now.getTime() - createdAt.getTime() < KEPT_MS;

export const fingerprintOf = (parts: readonly unknown[]): Buffer =>
  createHash('sha256').update(JSON.stringify(parts)).digest();

/**
 * Takes the key for a request to run; this process has no other run of it in hand. null: it must not run. Takes over a key of the same
 * request from a dead process, or from an earlier run of this process.
 */
export async function takeUp(ctx: TakeContext, request: KeyedRequest): Promise<KeyedRun | null> {
  const now = ctx.clock.now();
  const held = { ...request, worker: ctx.processId() };
  failpoint('before-take-key');
  const taken = await ctx.keyWriter.take({ ...held, now });
  failpoint('after-take-key');
  return taken && { ...held, ...taken, takenAt: now };
}

/**
 * The answer for a repeat. Throws CONFLICT while there is none or when it is lost, IDEMPOTENCY_KEY_REUSED when the key belongs to another request, and
 * FORBIDDEN for another caller who lacks a right of the first.
 */
export async function findAnswer(ctx: Store & Pick<NodeKeys, 'secrets'>, request: KeyedRequest): Promise<FoundAnswer> {
  const row = await findKey(ctx.db, request);
  if (!row) throw stillRunning();
  if (!row.fingerprint.equals(request.fingerprint))
    throw new AppError('IDEMPOTENCY_KEY_REUSED', 'This Idempotency-Key was used for another request; use a new one.');
  requireRights(row, request);
  if (!row.answerSealed) throw stillRunning();
  const body = ctx.secrets.openOrNull(row.answerSealed);
  if (body === null) throw answerLost();
  return { body, headers: row.answerHeaders ?? {}, hasSecret: row.hasSecret };
}

// SDKs from before `details.reason` know these two by "was done, and is not done again" and "still running": both texts stay.
const answerLost = () =>
  new AppError(
    'CONFLICT',
    'The call under this Idempotency-Key was done, and is not done again. Its answer was sealed with an earlier SECRET_KEY of this node and cannot be read: read what the call made.',
    { details: { reason: 'answer_lost' } },
  );

/** True for the refusal of a repetition while the first call still runs. */
export const isStillRunning = (error: unknown): boolean =>
  error instanceof AppError &&
  (error.extra as { readonly details?: { readonly reason?: unknown } }).details?.reason === 'still_running';

const stillRunning = () =>
  new AppError('CONFLICT', 'A request with this Idempotency-Key is still running; repeat it later.', {
    details: { reason: 'still_running' },
  });

function requireRights(row: IdempotencyRow, { callerId, scopes }: KeyCaller): void {
  if (row.callerId === callerId || row.scopes.every((scope) => scopes.includes(scope))) return;
  throw new AppError(
    'FORBIDDEN',
    'The first call under this Idempotency-Key had rights that this caller lacks: repeat it with the same credentials, or use a new key.',
  );
}

/**
 * Takes the secret of an answer, once: for the caller that made the call, within ten minutes, and if no answer has shown it. The taker has
 * to show it: the stored copy is deleted.
 */
export async function takeSecretOnce(
  ctx: Store & Pick<NodeKeys, 'secrets'>,
  request: KeyedRequest,
): Promise<string | null> {
  failpoint('before-take-secret');
  const sealed = await takeSecret(ctx.db, request, { callerId: request.callerId, now: ctx.clock.now() });
  failpoint('after-take-secret');
  return sealed && ctx.secrets.open(sealed);
}

/** Stores the answer for repeats in the next 24 hours; false when this run no longer holds the key. */
export async function keepAnswer(
  ctx: AccountServices & Store & Pick<NodeKeys, 'secrets'>,
  run: KeyedRun,
  answer: KeptAnswer,
): Promise<boolean> {
  failpoint('before-keep-answer');
  const isKept = await ctx.keyWriter.store(run, sealed(ctx, answer));
  failpoint('after-keep-answer');
  return isKept;
}

/** True if the key has a row, or a request its first id: rows are dropped when a call may be repeated, and after a day. */
export const isKnownKey = (ctx: Store & Pick<NodeKeys, 'secrets'>, request: KeyedRequest): Promise<boolean> =>
  isKeyUsed(ctx.db, request, idsUnderKey(ctx, request, 'req', 1));

/** Prepares an answer for storage. */
export const sealed = (
  ctx: Store & Pick<NodeKeys, 'secrets'>,
  { body, headers, secret = null }: KeptAnswer,
): SealedAnswer => ({
  sealed: ctx.secrets.seal(body),
  headers,
  secret: secret === null ? null : { sealed: ctx.secrets.seal(secret), until: secretEnd(ctx.clock.now()) },
});

const secretEnd = (now: Date) => new Date(now.getTime() + SECRET_KEPT_MS);

/** Stores an answer in the transaction that makes it true. Throws CONFLICT when another process has taken over the key. */
export async function keepAnswerIn(
  ctx: Store & Pick<NodeKeys, 'secrets'>,
  tx: Tx,
  run: KeyedRun,
  answer: KeptAnswer,
): Promise<void> {
  if (!(await storeAnswer(tx, run, sealed(ctx, answer)))) throw stillRunning();
}

/** Keys that are taken with the acceptance of their calls, and answers that are kept with their ends. */
export { answersStored as answersKept, dropKeys, freeKeysTaken, type KeyToTake, takeFreeKeys };

/** Releases the key for this request without an answer: a stream is rebuilt from stored rows. */
export const keepKey = (ctx: Store, run: KeyedRun): Promise<void> => releaseKey(ctx.db, run);

/** Releases keys of runs with an end that could not be recorded. */
export const releaseLeft = (ctx: Pick<Store, 'db'>, keys: readonly LeftKey[]): Promise<void> =>
  releaseKeys(ctx.db, keys);

/** Frees the key after a refusal that a repeat may escape; a stored answer stays. */
export const freeKey = (ctx: Store, run: KeyedRun): Promise<void> => dropKey(ctx.db, run);

/** The nth ids of a kind under a key, as in `Once`: the same in every repeat and process of the node, and unique to the key. */
export function idsUnderKey(
  ctx: Pick<NodeKeys, 'secrets'>,
  request: KeyedRequest,
  prefix: IdPrefix,
  nth: number,
): string[] {
  const { accountId, key, fingerprint } = request;
  const codes = ctx.secrets.codesOf('id', [accountId, key, fingerprint.toString('hex'), prefix, String(nth)]);
  return codes.map((code) => idFromCode(prefix, code));
}

/** The id of a kind that a message authentication code names. */
export const idFromCode = (prefix: IdPrefix, code: string): string =>
  `${prefix}_${Buffer.from(code, 'base64url').toString('hex').slice(0, 26)}`;

export const forgetExpiredKeys = (ctx: Store): Promise<void> =>
  removeInSteps((most) => dropExpiredKeys(ctx.db, new Date(ctx.clock.now().getTime() - KEPT_MS), most));

/** Removes expired secrets. */
export const forgetSecrets = (ctx: Store): Promise<void> => dropSecrets(ctx.db, ctx.clock.now());
