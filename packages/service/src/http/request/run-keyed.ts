import type { ShownOnce } from '@agent-network/contracts/access/shown-once';
import {
  type FoundAnswer,
  findAnswer,
  freeKey,
  idsUnderKey,
  isKnownKey,
  type KeyedRequest,
  type KeyedRun,
  keepAnswer,
  keepAnswerIn,
  keepKey,
  sealed,
  takeSecretOnce,
  takeUp,
} from '../../accounts/idempotency/idempotency.ts';
import {
  joinSecret,
  type LateKey,
  type Once,
  splitSecret,
  TakeKeyFirstError,
} from '../../accounts/idempotency/once.ts';
import { AppError } from '../../lib/app-error.ts';
import { encodeJson, PreparedJson } from '../../lib/json/prepared-json.ts';
import { DatabaseAwayError } from '../../store/database-away.ts';
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
  /** True if its key may be taken by the transaction that first has an effect (`LateKey`). */
  readonly takesLate: boolean;
  run(running: Running): Promise<unknown>;
  /** Called for a repetition, with functions that find and read the first answer. */
  replay(find: () => Promise<FoundAnswer>, read: (found: FoundAnswer) => Promise<unknown>): Promise<unknown>;
}

/** Start of an answer, before its data. */
export const ENVELOPE = '{"status":"success","data":';

/** Runs once per Idempotency-Key; a repetition gets the stored answer. */
export async function runKeyed(ctx: HttpContext, call: KeyedCall): Promise<string | Buffer<ArrayBuffer> | SseAnswer> {
  const hand = ctx.heldKeys.enter(call.request);
  try {
    // The acceptance would look for a request of the newest secret only.
    const isLate = hand && call.takesLate && !ctx.secrets.isRotating;
    const late = isLate ? await runLate(ctx, call) : null;
    if (late !== null) return late;
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

/** Runs a call that takes its key on the way. Null: nothing was done, and the key has to be taken first. */
async function runLate(ctx: HttpContext, call: KeyedCall): Promise<string | SseAnswer | null> {
  const headers: Record<string, string> = {};
  const run = { ...call.request, worker: ctx.processId(), takenAt: ctx.clock.now(), isRepeated: false };
  let isTaken = false;
  let keptBody: string | null = null;
  const late: LateKey = {
    key: { ...run, now: run.takenAt },
    taken() {
      isTaken = true;
    },
    answerOf(data) {
      const body = call.encode(data);
      const kept = () => {
        keptBody = body;
      };
      return { answer: sealed(ctx, { body, headers: { ...headers } }), kept };
    },
  };
  const once: Once = {
    ...onceOf(ctx, run),
    isRepeated: false,
    late,
    keep: () => Promise.reject(new TakeKeyFirstError()),
  };
  try {
    const data = await call.run({ once, headers });
    if (!isTaken) return null;
    if (keptBody !== null) return keptBody;
    return await settled(ctx, call, { run, headers, data });
  } catch (error) {
    if (isTaken) await letGo(ctx, run, error);
    else if (error instanceof TakeKeyFirstError) return null;
    // It may have been taken without telling so.
    else if (error instanceof DatabaseAwayError) ctx.heldKeys.leftHeld(run);
    // A call under the key was made before this one, which then has to find it.
    else if (await isKnownKey(ctx, run)) return null;
    throw error;
  }
}

/** Takes the key. If the outcome is unknown, releases the key once the database answers, as it would be held for a day otherwise. */
async function takeHeard(ctx: HttpContext, request: KeyedRequest): Promise<KeyedRun | null> {
  try {
    return await takeUp(ctx, request);
  } catch (error) {
    ctx.heldKeys.leftHeld({ ...request, worker: ctx.processId(), takenAt: ctx.clock.now() });
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
    ...onceOf(ctx, run),
  };
  try {
    const data = await call.run({ once, headers });
    if (isSecretKept) {
      const isOurs = await isStillOurs(ctx, run);
      return call.encode(isOurs ? data : splitSecret(data, call.shownOnce).data);
    }
    return await settled(ctx, call, { run, headers, data });
  } catch (error) {
    await letGo(ctx, run, error);
    throw error;
  }
}

const onceOf = (ctx: HttpContext, run: KeyedRun): Pick<Once, 'idsFor' | 'isRepeated'> => ({
  idsFor: (prefix, nth) => idsUnderKey(ctx, run, prefix, nth),
  isRepeated: run.isRepeated,
});

interface Done {
  readonly run: KeyedRun;
  readonly headers: Readonly<Record<string, string>>;
  readonly data: unknown;
}

/** The answer, stored for repetitions; repetitions of a stream read the stored events. */
async function settled(ctx: HttpContext, call: KeyedCall, { run, headers, data }: Done): Promise<string | SseAnswer> {
  if (data instanceof SseAnswer) {
    await settle(ctx, run, () => keepKey(ctx, run));
    return data;
  }
  const told = splitSecret(data, call.shownOnce);
  const answer = call.encode(data);
  const body = told.secret === null ? answer : call.encode(told.data);
  await settle(ctx, run, () => keepAnswer(ctx, run, { body, headers }));
  return answer;
}

/** Lets go of the key of a call that failed. With the database away the outcome is unknown: the key stays with this request. */
async function letGo(ctx: HttpContext, run: KeyedRun, error: unknown): Promise<void> {
  const end = error instanceof DatabaseAwayError ? keepKey : freeKey;
  await settle(ctx, run, () => end(ctx, run));
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
    ctx.heldKeys.leftHeld(run);
  });
}
