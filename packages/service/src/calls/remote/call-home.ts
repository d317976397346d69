import { setTimeout as sleep } from 'node:timers/promises';
import { formatUsdc } from '@agent-network/contracts/money';
import { invariant } from '../../lib/invariant.ts';
import { GuardedFetchError } from '../../lib/net/guarded-fetch-error.ts';
import type { GuardedStream } from '../../lib/net/guarded-fetch-stream.ts';
import { failpoint } from '../../lib/process/failpoint.ts';
import type { Telemetry } from '../../lib/telemetry/telemetry.ts';
import { awaitRefunds } from '../../payments/payouts/await-refunds.ts';
import type { PaymentProof } from '../../payments/x402/payment-proof.ts';
import type { CallServices } from '../call-services.ts';
import type { AgentOutcome, Invocation, Outcome } from '../invocation.ts';
import { type CallContext, isStopping } from '../protocols/adapter.ts';
import { failed } from '../protocols/agent-answer.ts';
import { readAll } from '../protocols/exchange.ts';
import { payAgentBill, proofSigned } from '../protocols/pay-agent-bill.ts';
import { followHome, type HomeCall, overdue } from './follow-home.ts';
import {
  type HomeAnswer,
  type HomeRecord,
  outcomeOf,
  questionOf,
  readHomeAnswer,
  readHomeFailure,
} from './home-answer.ts';
import { askHome, MAX_ANSWER_BYTES, openAtHome } from './home-client.ts';
import { findHomeRequestId, insertHomeCall } from './home-store.ts';
import { endAtHome, recordEnd, settleHomeCall } from './settle-home-calls.ts';

/** Retry pauses while no payment is signed; afterwards the home node is retried with growing pauses until the deadline. */
const PAUSES_MS: readonly number[] = [200, 1000];
const BILLED_PAUSES_MS: readonly number[] = [200, 1000, 2000];
const FIRST_PAUSE_MS = 200;
const MAX_PAUSE_MS = 5000;
/** A home node answers a call within 30 s, with the result or without. */
const ANSWER_TIMEOUT_MS = 60_000;

export interface HomeCallContext extends CallContext, Pick<CallServices, 'homeKeys'>, Telemetry {}

/**
 * Calls a remote agent through its home node, as an x402 client of that node (docs/decisions/0016-network.md). The home node is paid once,
 * out of the hold; every later call of the request shows the same key and the same payment, so that it finds the same request. Never throws
 * for a fault of the home node or the network: every end is an outcome.
 */
export async function callHome(ctx: HomeCallContext, call: HomeCall): Promise<AgentOutcome> {
  const told = await insist(ctx, call);
  const outcome = told === overdue && !call.signal.aborted ? await lastLook(ctx, call) : told;
  // A job repeats the notification if this process dies or the home node does not answer.
  if (call.signal.aborted && !isStopping(call.signal))
    settleHomeCall(ctx, call.invocation.id).catch((error) =>
      ctx.log.warn({ err: error }, 'notification of the home node failed'),
    );
  return outcome;
}

async function insist(ctx: HomeCallContext, call: HomeCall): Promise<AgentOutcome> {
  let proof = await proofSigned(ctx, call.invocation);
  for (let tries = 0; ; ) {
    const leftMs = call.invocation.deadline.getTime() - ctx.clock.now().getTime();
    if (leftMs <= 0 || call.signal.aborted) return overdue;
    failpoint('before-agent-call');
    const answer = await askOnce(ctx, call, proof, leftMs);
    failpoint('after-agent-call');
    if (answer.kind === 'ended' || answer.kind === 'refused') return answer.outcome;
    if (answer.kind === 'billed' && proof === null && !call.signal.aborted) {
      const paid = await payHome(ctx, call, answer);
      if ('kind' in paid) return paid;
      proof = paid;
      continue;
    }
    const isBegun = hasBegun(call, proof);
    const { outcome, pauseMs } = nextTry(answer, tries++, isBegun);
    if (pauseMs === null) return outcome;
    if (pauseMs >= leftMs && !isBegun) return outcome;
    await sleep(Math.min(pauseMs, leftMs), undefined, { signal: call.signal }).catch(() => undefined);
  }
}

type Ended<O extends AgentOutcome = AgentOutcome> = { readonly kind: 'ended'; readonly outcome: O };
type Asked = Exclude<HomeAnswer, { kind: 'told' }> | Ended;

function nextTry(answer: Exclude<Asked, { kind: 'ended' | 'refused' }>, tries: number, isBegun: boolean) {
  if (answer.kind === 'billed') {
    const outcome = failed(
      'bill_repeated',
      "The agent's home node asked for payment again after it was shown a payment.",
    );
    return { outcome, pauseMs: BILLED_PAUSES_MS[tries] ?? null };
  }
  const { outcome, afterMs, isPatient } =
    answer.kind === 'busy' ? { outcome: overdue, afterMs: null, isPatient: true } : answer;
  const patientMs = Math.min(MAX_PAUSE_MS, FIRST_PAUSE_MS * 2 ** Math.min(tries, 10));
  const pauseMs = isBegun || isPatient ? patientMs : (PAUSES_MS[tries] ?? null);
  // `Retry-After: 0` asks for no loop without pauses.
  return { outcome, pauseMs: pauseMs === null ? null : Math.max(afterMs ?? 0, pauseMs) };
}

/**
 * Passes the last answer on, and follows the request. It may be repeated: the home node takes an answer once. One that comes too late there
 * leaves the end of the request to be read.
 */
async function answerOnce(ctx: HomeCallContext, call: HomeCall, leftMs: number): Promise<Asked> {
  const last = call.answers.at(-1);
  invariant(last?.handle != null, 'a question of another node names its request there');
  const { agentInputId: inputId, action, input, note } = last;
  const body = { inputId, action, ...(input === null ? {} : { input }), ...(note === null ? {} : { message: note }) };
  try {
    const answer = await askHome(ctx, call.home, {
      method: 'POST',
      path: `/invoke/${encodeURIComponent(last.handle)}/input`,
      headers: { 'content-type': 'application/json', accept: 'application/json', 'x-request-id': call.invocation.id },
      body: JSON.stringify(body),
      timeoutMs: Math.min(leftMs, ANSWER_TIMEOUT_MS),
      signal: call.signal,
    });
    const read = readHomeAnswer(answer);
    return read.kind === 'told' || read.kind === 'busy' ? await follow(ctx, call, last.handle, null) : read;
  } catch (error) {
    if (!(error instanceof GuardedFetchError)) throw error;
    return readHomeFailure(error);
  }
}

/** True for a call that was paid or answered, and is therefore not given up before its deadline. */
const hasBegun = ({ answers }: HomeCall, proof: PaymentProof | null): boolean => proof !== null || answers.length > 0;

/** One call, or one answer, followed to the end of its request if it created one. */
async function askOnce(
  ctx: HomeCallContext,
  call: HomeCall,
  proof: PaymentProof | null,
  leftMs: number,
): Promise<Asked> {
  if (call.answers.length > 0) return answerOnce(ctx, call, leftMs);
  const request = toRequest(call, proof, leftMs);
  try {
    if (call.invocation.isStreamed) {
      const stream = await openAtHome(ctx, call.home, request);
      return await readOpened(ctx, call, stream).finally(stream.cancel);
    }
    return await read(ctx, call, readHomeAnswer(await askHome(ctx, call.home, request)));
  } catch (error) {
    if (!(error instanceof GuardedFetchError)) throw error;
    return readHomeFailure(error);
  }
}

async function readOpened(ctx: HomeCallContext, call: HomeCall, stream: GuardedStream): Promise<Asked> {
  const type = String(stream.headers['content-type'] ?? '').toLowerCase();
  if (stream.status === 200 && type.startsWith('text/event-stream')) return follow(ctx, call, null, stream);
  return read(ctx, call, readHomeAnswer({ ...stream, body: await readAll(stream.body, MAX_ANSWER_BYTES) }));
}

async function read(ctx: HomeCallContext, call: HomeCall, answer: HomeAnswer): Promise<Asked> {
  if (answer.kind === 'busy') return follow(ctx, call, null, null);
  if (answer.kind !== 'told') return answer;
  return (await endOf(ctx, call, answer.record)) ?? follow(ctx, call, answer.record.homeRequestId, null);
}

/** Follows the request at its home node; `busy` when its id is unknown, or known here and not there. */
async function follow(
  ctx: HomeCallContext,
  call: HomeCall,
  toldId: string | null,
  stream: GuardedStream | null,
): Promise<Asked> {
  const { invocation, home } = call;
  const { id: requestId } = invocation;
  if (toldId !== null)
    await insertHomeCall(ctx.db, { requestId, nodeId: home.nodeId, homeRequestId: toldId }, ctx.clock.now());
  const homeRequestId = toldId ?? (await findHomeRequestId(ctx.db, requestId));
  if (homeRequestId === null && stream === null) return { kind: 'busy' };
  const followed = await followHome(ctx, call, homeRequestId, stream);
  if (followed.kind === 'failed') return { kind: 'ended', outcome: followed.outcome };
  if (followed.kind === 'asks') {
    const askedId = homeRequestId ?? (await findHomeRequestId(ctx.db, requestId));
    invariant(askedId !== null, 'the id of a request comes before its question');
    return { kind: 'ended', outcome: questionOf(followed, askedId, ctx.clock.now()) };
  }
  return (followed.kind === 'told' && (await endOf(ctx, call, followed.record))) || { kind: 'busy' };
}

/** Time to read the chunks of a completed request that were not read before its deadline. */
const LAST_READ_MS = 10_000;

/**
 * Outcome of a call after its deadline. Asks the home node once more, as a result there was paid for. If the call is still open, cancels it
 * first, so that it has ended at both nodes and the home can't complete it unread.
 */
async function lastLook(ctx: HomeCallContext, call: HomeCall): Promise<Outcome> {
  const { home, invocation, signal } = call;
  const homeRequestId = await findHomeRequestId(ctx.db, invocation.id);
  if (homeRequestId === null) return overdue;
  try {
    const end = await endAtHome(ctx, { home, homeRequestId }, { cancels: true, signal });
    if (end === null || end === 'unknown') return overdue;
    const ended = await endOf(ctx, call, end);
    if (ended === null || end.status === 'cancelled') return overdue;
    if (invocation.isStreamed && ended.outcome.kind === 'completed') {
      const deadline = new Date(ctx.clock.now().getTime() + LAST_READ_MS);
      await followHome(ctx, { ...call, invocation: { ...invocation, deadline } }, homeRequestId, null);
    }
    return ended.outcome;
  } catch (error) {
    if (!(error instanceof GuardedFetchError)) throw error;
    return overdue;
  }
}

async function endOf(
  ctx: HomeCallContext,
  { invocation }: HomeCall,
  record: HomeRecord,
): Promise<Ended<Outcome> | null> {
  const outcome = outcomeOf(record);
  if (outcome === null) return null;
  await recordEnd(ctx, invocation.id, record);
  return { kind: 'ended', outcome };
}

type Billed = Extract<HomeAnswer, { kind: 'billed' }>;

/** Signs the payment for the home node's bill. Refunds are matched by the id in the bill, so a bill without one is not paid. */
async function payHome(ctx: HomeCallContext, call: HomeCall, bill: Billed): Promise<PaymentProof | Outcome> {
  const { home, invocation } = call;
  const { homeRequestId } = bill;
  if (homeRequestId === null)
    return failed('bill_not_payable', "The agent's home node does not say which request its bill is for.");
  const requestId = invocation.id;
  return payAgentBill(ctx, call, bill.answer, {
    payTo: home.wallet,
    async awaitRefunds(tx) {
      await insertHomeCall(tx, { requestId, nodeId: home.nodeId, homeRequestId }, ctx.clock.now());
      return awaitRefunds(ctx, tx, { requestId, from: home.wallet, homeRequestId });
    },
  });
}

function toRequest({ home, invocation, signal }: HomeCall, proof: PaymentProof | null, leftMs: number) {
  return {
    method: 'POST' as const,
    path: `/invoke/${encodeURIComponent(invocation.agentId)}`,
    headers: {
      'content-type': 'application/json',
      accept: invocation.isStreamed ? 'text/event-stream, application/json' : 'application/json',
      'idempotency-key': invocation.id,
      'x-request-id': invocation.id,
      'x-payment-method': 'x402',
      'x-sync': 'true',
      ...(proof === null ? {} : { [proof.headerName]: proof.headerValue }),
    },
    body: JSON.stringify(toHomeBody(invocation, home)),
    timeoutMs: invocation.isStreamed ? leftMs : Math.min(leftMs, ANSWER_TIMEOUT_MS),
    signal,
  };
}

/** Body of the request to the home node. The bytes are equal in every attempt, as the home node recognizes a repeat by them. */
const toHomeBody = (invocation: Invocation, { isInteractive }: HomeCall['home']) => ({
  task: invocation.task,
  input: invocation.input,
  ...(invocation.capability === null ? {} : { capability: invocation.capability }),
  ...(invocation.context === null ? {} : { context: invocation.context }),
  metadata: invocation.metadata,
  priority: invocation.priority,
  deadline: invocation.deadline.toISOString(),
  maxCost: formatUsdc(invocation.priceMicro),
  stream: invocation.isStreamed,
  ...(isInteractive && invocation.inputTimeoutS !== null
    ? { interactive: true, inputTimeout: invocation.inputTimeoutS }
    : {}),
});
