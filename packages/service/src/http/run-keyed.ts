import {
  findAnswer,
  freeKey,
  idUnderKey,
  type KeyedRequest,
  type KeyedRun,
  keepAnswer,
  keepAnswerIn,
  keepKey,
  takeUp,
} from '../access/idempotency.ts';
import type { Once } from '../access/once.ts';
import type { HttpContext } from './http-context.ts';
import { SseAnswer } from './sse.ts';

/** What running a request needs to know of its being run once. */
export interface Running {
  readonly once: Once;
  /** Gathers the headers that are kept with the answer. */
  readonly headers: Record<string, string>;
}

export interface KeyedCall {
  readonly request: KeyedRequest;
  /** The text of an answer. */
  encode(data: unknown): string;
  run(running: Running): Promise<string | SseAnswer>;
  /** Called for a repetition, with the headers of the first answer. */
  onReplay(headers: Readonly<Record<string, string>>): Promise<void>;
}

/** Runs once per Idempotency-Key; a repetition gets the answer that there was. */
export async function runKeyed(ctx: HttpContext, call: KeyedCall): Promise<string | SseAnswer> {
  const hand = ctx.keysInHand.enter(call.request);
  try {
    const run = hand && (await takeUp(ctx, call.request));
    if (run) return await runOnce(ctx, call, run);
  } finally {
    hand?.leave();
  }
  const { body, headers } = await findAnswer(ctx, call.request);
  await call.onReplay(headers);
  return body;
}

async function runOnce(ctx: HttpContext, call: KeyedCall, run: KeyedRun): Promise<string | SseAnswer> {
  const headers: Record<string, string> = {};
  const once: Once = {
    async keep(tx, data) {
      await keepAnswerIn(ctx, tx, run, { body: call.encode(data), headers });
      return data;
    },
    idFor: (prefix, nth) => idUnderKey(ctx, run, prefix, nth),
    isRepeated: run.isRepeated,
  };
  try {
    const answer = await call.run({ once, headers });
    await settle(ctx, run, () =>
      answer instanceof SseAnswer ? keepKey(ctx, run) : keepAnswer(ctx, run, { body: answer, headers }),
    );
    return answer;
  } catch (error) {
    await settle(ctx, run, () => freeKey(ctx, run));
    throw error;
  }
}

/** What came of the run is told in any case: a key that is left as it was is taken up again by its repetition. */
async function settle(ctx: HttpContext, { accountId }: KeyedRun, write: () => Promise<unknown>): Promise<void> {
  await write().catch((error) => ctx.log.warn({ err: error, accountId }, 'an Idempotency-Key was left as it was'));
}
