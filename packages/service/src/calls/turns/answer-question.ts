import { hash } from 'node:crypto';
import { canonicalJson } from '@agent-network/contracts/canonical-json';
import type { RequestRecord } from '@agent-network/contracts/invocations/invocations';
import { type InputAnswer, MAX_ANSWER_BYTES } from '@agent-network/contracts/invocations/turns';
import type { KnownCaller } from '../../accounts/caller.ts';
import { fileRefsOf, requireFiles, requireNoFiles } from '../../files/file-refs.ts';
import { AppError, invalid } from '../../lib/app-error.ts';
import { checkInThread } from '../../lib/json-schema/schema-thread.ts';
import { failpoint } from '../../lib/process/failpoint.ts';
import type { NodeProcess } from '../../store/queue/heartbeat.ts';
import type { CallServices } from '../call-services.ts';
import { hasEnded, type Invocation } from '../invocation.ts';
import { findInvocation } from '../invocation-store.ts';
import { readInvocation, requireOwn } from '../read-invocation.ts';
import { type RunContext, runInvocation } from '../run/run-invocation.ts';
import { requireRoomToPay } from '../run/run-queued.ts';
import { countMisfit, findQuestion, type NewAnswer, type StoredQuestion, storeAnswer } from './turn-store.ts';
import { deadlineAfterAnswer, latestEnd } from './turn-times.ts';

/** After so many answers that do not fit, the question counts as declined. */
const MAX_MISFITS = 20;

export interface AnswerContext extends RunContext, CallServices, NodeProcess {}

/**
 * Answers the question that a request waits for, and has its agent go on. The same answer may be sent again: it is stored once. Throws
 * INPUT_ALREADY_ANSWERED for another one, INPUT_EXPIRED for a late one, INPUT_NOT_REQUIRED when the request does not wait for it,
 * FILE_NOT_FOUND for a file that the caller lacks, and VALIDATION_ERROR, with the request waiting on, for an answer that does not fit. `messageId`: the caller's id of the message that it came in.
 */
export async function answerInput(
  ctx: AnswerContext,
  caller: KnownCaller,
  requestId: string,
  answer: InputAnswer,
  messageId: string | null = null,
): Promise<RequestRecord> {
  const { inputId, action, input = null, message: note = null } = answer;
  const found = requireOwn(await findInvocation(ctx.db, requestId), caller);
  const digest = hash('sha256', canonicalJson([action, input, note]), 'buffer');
  const question = await findQuestion(ctx.db, requestId, inputId);
  if (isRepeated(found, question, digest)) return readInvocation(ctx, caller, requestId);
  requireOpen(found, question, ctx.clock.now());
  requireRoomToPay(ctx, caller);
  if (action === 'accept') {
    await requireFilesOf(ctx, found, input);
    await requireFitting(ctx, found, question, input);
  }
  await goOn(ctx, found, question, { action, input: action === 'accept' ? input : null, note, digest, messageId });
  return readInvocation(ctx, caller, requestId);
}

/** True for an answer that the question has already. Throws INPUT_ALREADY_ANSWERED for another one. */
function isRepeated({ status }: Invocation, question: StoredQuestion | null, digest: Buffer): boolean {
  if (question === null) throw notRequired(status);
  if (question.answerDigest === null) return false;
  if (question.answerDigest.equals(digest)) return true;
  throw new AppError('INPUT_ALREADY_ANSWERED', 'The question was answered before, with another answer.');
}

function requireOpen(
  found: Invocation,
  question: StoredQuestion | null,
  now: Date,
): asserts question is StoredQuestion {
  if (found.errorCode === 'input_timeout') throw expired();
  if (found.status !== 'input_required' || question?.turn !== found.turn) throw notRequired(found.status);
  if (found.deadline <= now) throw expired();
}

const notRequired = (status: string) =>
  new AppError(
    'INPUT_NOT_REQUIRED',
    status === 'input_required'
      ? 'This is not the question that the request waits for.'
      : `The request does not wait for an answer: it is ${status}.`,
    { details: { status } },
  );

const expired = () =>
  new AppError('INPUT_EXPIRED', 'The time for an answer is over. The request ends, and is refunded.');

/** Keeps the files of an answer for as long as its call may need them. Throws when there are some that its agent can't get. */
async function requireFilesOf(ctx: AnswerContext, found: Invocation, input: unknown): Promise<void> {
  if (fileRefsOf(input).length === 0) return;
  const agent = await ctx.agentFinder.find(found.agentId);
  if (agent?.home) return requireNoFiles(input);
  const ownerId = found.callerAgentId ?? found.accountId;
  await requireFiles(ctx, input, { ownerId, deadline: latestEnd(found.createdAt) });
}

/** Throws VALIDATION_ERROR for an answer that does not fit the schema of the question; the last one that may is a refusal to answer. */
async function requireFitting(
  ctx: AnswerContext,
  found: Invocation,
  question: StoredQuestion,
  input: Record<string, unknown> | null,
): Promise<void> {
  if (Buffer.byteLength(JSON.stringify(input)) > MAX_ANSWER_BYTES)
    throw invalid('input', `is larger than ${MAX_ANSWER_BYTES / 1024} KiB`);
  if (question.schema === null) return;
  const checked = await checkInThread(
    { schema: question.schema, value: input ?? {} },
    { owner: found.agentId, mayWait: false },
  );
  if (checked !== 'too_much' && checked.length === 0) return;
  const tries = await countMisfit(ctx.db, found.id, question.turn);
  const isLast = tries !== null && tries >= MAX_MISFITS;
  if (isLast) {
    const digest = hash('sha256', 'declined after answers that did not fit', 'buffer');
    await goOn(ctx, found, question, { action: 'decline', input: null, note: null, digest, messageId: null });
  }
  const fields =
    checked === 'too_much'
      ? [{ path: 'input', message: 'is too large to be checked against the schema of the question' }]
      : checked.map(({ at, message }) => ({ path: ['input', ...at].join('.').slice(0, 200).toWellFormed(), message }));
  const after = isLast ? ' It was the last try: the question counts as declined.' : '';
  const message = `The answer does not fit the schema of the question: ${fields[0]?.path} ${fields[0]?.message}.${after}`;
  throw new AppError('VALIDATION_ERROR', message, { details: { fields } });
}

/** Stores the answer, and has this process call the agent again, once a slot is free. Another process does if this one dies. */
async function goOn(
  ctx: AnswerContext,
  found: Invocation,
  { turn, leftMs }: StoredQuestion,
  answer: Pick<NewAnswer, 'action' | 'input' | 'note' | 'digest' | 'messageId'>,
): Promise<void> {
  const now = ctx.clock.now();
  const deadline = deadlineAfterAnswer(found, leftMs, now, { longestChannelCallS: ctx.chain.channels?.longestCallS });
  const leave = ctx.runner.expect([found.id]);
  try {
    failpoint('before-answer-commit');
    const taken = await ctx.db.transaction((tx) =>
      storeAnswer(tx, found.id, { ...answer, turn, worker: ctx.processId(), deadline, now }),
    );
    failpoint('after-answer-commit');
    if (taken === null) return await settleLost(ctx, found, turn, answer.digest);
    ctx.changeHub.changed(found.id);
    // The run that asked is over as soon as its question is stored, and leaves its place then.
    await ctx.runner.ending(found.id)?.catch(() => undefined);
    void ctx.runner.track(
      taken,
      async (signal) => {
        await ctx.runner.enter(taken, signal);
        return runInvocation(ctx, taken, signal);
      },
      { entersLater: true },
    );
  } finally {
    leave();
  }
}

/** The question was answered, or its request ended, between the look and the transaction. Throws unless it was the same answer. */
async function settleLost(ctx: AnswerContext, { id }: Invocation, turn: number, digest: Buffer): Promise<void> {
  const now = await findInvocation(ctx.db, id);
  const asked = now?.turns?.find((each) => each.turn === turn);
  const question = asked ? await findQuestion(ctx.db, id, asked.inputId) : null;
  if (now && isRepeated(now, question, digest)) return;
  throw now && !hasEnded(now.status) ? expired() : notRequired(now?.status ?? 'cancelled');
}
