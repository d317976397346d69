import type { ShownOnce } from '@agent-network/contracts/access/shown-once';
import {
  type FoundAnswer,
  findAnswer,
  freeKey,
  idUnderKey,
  type KeyedRequest,
  type KeyedRun,
  keepAnswer,
  keepAnswerIn,
  keepKey,
  takeSecretOnce,
  takeUp,
} from '../../access/idempotency/idempotency.ts';
import type { Once } from '../../access/idempotency/once.ts';
import { joinSecret, splitSecret } from '../../access/idempotency/shown-once.ts';
import { DatabaseAwayError } from '../../db/database-away.ts';
import { AppError } from '../../lib/app-error.ts';
import { encodeJson, PreparedJson } from '../../lib/json/prepared-json.ts';
import { SseAnswer } from '../answer/sse.ts';
import type { HttpContext } from './http-context.ts';

/** Context of the one run of a keyed request. */
export interface Running {
  readonly once: Once;
  /** Headers that are stored with the answer. */
  readonly headers: Record<string, string>;
}

export interface KeyedCall {
  readonly request: KeyedRequest;
  /** The secret that the answer shows once. */
  readonly shownOnce: ShownOnce | undefined;
  /** Serialises an answer. */
  encode(data: unknown): string;
  run(running: Running): Promise<unknown>;
  /** Called for a repetition, with functions that find and read the first answer. */
  replay(find: () => Promise<FoundAnswer>, read: (found: FoundAnswer) => Promise<unknown>): Promise<unknown>;
}

/** Start of an answer, before its data. */
export const ENVELOPE = '{"status":"success","data":';

/** Runs once per Idempotency-Key; a repetition gets the stored answer. */
export async function runKeyed(ctx: HttpContext, call: KeyedCall): Promise<string | Buffer<ArrayBuffer> | SseAnswer> {
  const hand = ctx.keysInHand.enter(call.request);
  try {
    const run = hand && (await takeHeard(ctx, call.request));
    if (run) return await runOnce(ctx, call, run);
  } finally {
    hand?.leave();
  }
  const data = await call.replay(
    () => findAnswer(ctx, call.request),
    async ({ body, hasSecret }) => {
      if (!call.shownOnce && body.startsWith(ENVELOPE)) return new PreparedJson(body.slice(ENVELOPE.length, -1));
      // An answer stored by an older release may contain a secret.
      const { data } = splitSecret(JSON.parse(body).data, call.shownOnce);
      const secret = hasSecret ? await takeSecretOnce(ctx, call.request) : null;
      return secret === null || !call.shownOnce ? data : joinSecret(data, call.shownOnce, secret);
    },
  );
  return encodeJson({ status: 'success', data });
}

/** Takes the key. What the database may have taken without telling so is released once it answers: it would be held for a day. */
async function takeHeard(ctx: HttpContext, request: KeyedRequest): Promise<KeyedRun | null> {
  try {
    return await takeUp(ctx, request);
  } catch (error) {
    ctx.keysInHand.leftHeld({ ...request, worker: ctx.processId(), takenAt: ctx.clock.now() });
    throw error;
  }
}

async function runOnce(ctx: HttpContext, call: KeyedCall, run: KeyedRun): Promise<string | SseAnswer> {
  const headers: Record<string, string> = {};
  let isSecretKept = false;
  const once: Once = {
    async keep(tx, data) {
      const told = splitSecret(data, call.shownOnce);
      isSecretKept = told.secret !== null;
      await keepAnswerIn(ctx, tx, run, { body: call.encode(told.data), headers, secret: told.secret });
      return data;
    },
    idFor: (prefix, nth) => idUnderKey(ctx, run, prefix, nth),
    isRepeated: run.isRepeated,
  };
  try {
    const data = await call.run({ once, headers });
    if (data instanceof SseAnswer) {
      await settle(ctx, run, () => keepKey(ctx, run));
      return data;
    }
    const told = splitSecret(data, call.shownOnce);
    if (isSecretKept) return call.encode((await isStillOurs(ctx, run)) ? data : told.data);
    const answer = call.encode(data);
    const body = told.secret === null ? answer : call.encode(told.data);
    await settle(ctx, run, () => keepAnswer(ctx, run, { body, headers }));
    return answer;
  } catch (error) {
    // With the database away the outcome is unknown: the key stays with this request.
    const letGo = error instanceof DatabaseAwayError ? keepKey : freeKey;
    await settle(ctx, run, () => letGo(ctx, run));
    throw error;
  }
}

/** Returns true if this answer may show its secret, because no repetition came first. Deletes the stored copy before the answer is sent. */
async function isStillOurs(ctx: HttpContext, run: KeyedRun): Promise<boolean> {
  try {
    return (await takeSecretOnce(ctx, run)) !== null;
  } catch (cause) {
    const message =
      'The call succeeded, but its secret could not be returned: repeat the call with the same Idempotency-Key within ten minutes.';
    throw new AppError('UNAVAILABLE', message, {}, { cause });
  }
}

/** Records the outcome of the run. On failure the answer is sent all the same, and the key is released once the database is back. */
async function settle(ctx: HttpContext, run: KeyedRun, write: () => Promise<unknown>): Promise<void> {
  await write().catch((error) => {
    ctx.log.warn(
      { err: error, accountId: run.accountId },
      'cannot record the outcome under an Idempotency-Key; retried when the database is back',
    );
    ctx.keysInHand.leftHeld(run);
  });
}
