import { randomBytes } from 'node:crypto';
import { formatUsdc } from '@agent-network/contracts/money';
import { until } from '../../../src/lib/concurrency/until.ts';
import { readTransfers } from '../../../src/payments/reconcile/read-transfers.ts';
import type { Answer, RequestOptions } from '../../support/harness.ts';
import { WAIT_MS } from '../../support/until.ts';
import { payV2 } from '../../support/x402-payer.ts';
import { toOrders } from './model-agent.ts';
import type { ModelRun } from './model-run.ts';
import type { Invocation, Movement, Operation, Reply } from './money-model.ts';
import { sendPlainly } from './plain-transfers.ts';

/** A call as a client makes it, again and again if need be: under one Idempotency-Key, with one payment. */
export interface PreparedCall {
  readonly path: string;
  readonly options: RequestOptions & { readonly headers: Record<string, string> };
}

/** An operation that is ready to be done. */
export interface Prepared {
  /** null for what is no call of the API. */
  readonly call: PreparedCall | null;
  /** Does it, or goes on with it, until it is done or refused. Rejects when the process dies over it. */
  perform(): Promise<Reply>;
}

export async function prepare(run: ModelRun, operation: Operation): Promise<Prepared> {
  switch (operation.kind) {
    case 'deposit':
    case 'withdraw':
      return ofCall(run, await moneyCall(run, operation));
    case 'invoke':
      return ofCall(run, await invokeCall(run, operation), (answer) => {
        run.requestIds.set(operation.ref, answer.body.data.requestId);
        run.whose.set(operation.ref, operation.who);
      });
    case 'cancel': {
      const { key } = run.clients[run.whose.get(operation.ref) ?? 0];
      return ofCall(run, keyed(`/invoke/${run.requestIds.get(operation.ref)}/cancel`, { key }));
    }
    case 'transfer':
      return { call: null, perform: await plainTransfer(run, operation) };
    case 'answer':
      return { call: null, perform: () => letAnswer(run, operation) };
  }
}

const ofCall = (run: ModelRun, call: PreparedCall, onDone?: (answer: Answer) => void): Prepared => ({
  call,
  async perform() {
    const answer = await finalAnswer(run, call);
    if (answer.status === 200) onDone?.(answer);
    return replyOf(answer);
  },
});

export const post = (run: ModelRun, { path, options }: PreparedCall): Promise<Answer> =>
  run.world.node.request('POST', path, options);

/** The first final answer; other answers ask to come back later. */
export async function finalAnswer(run: ModelRun, call: PreparedCall): Promise<Answer> {
  let last: Answer | null = null;
  const ask = async () => {
    last = await post(run, call);
    return isFinal(last) ? last : null;
  };
  const answer = await until(ask, { timeoutMs: WAIT_MS, firstMs: 5, maxMs: 100 });
  if (!answer)
    throw new Error(`no final answer to POST ${call.path}: ${JSON.stringify((last as Answer | null)?.body)}`);
  return answer;
}

/** Answers that tell a client to come back; everything else is the last word. */
const COME_BACK = new Set(['PAYMENT_PENDING', 'UNAVAILABLE', 'CHAIN_UNAVAILABLE']);
const isFinal = ({ status, body }: Answer): boolean =>
  status === 200 || (!COME_BACK.has(body?.error?.code) && !isStillRunning(body));
const isStillRunning = (body: Answer['body']): boolean =>
  body?.error?.code === 'CONFLICT' && /still running/.test(body.error.message);

const REFUSALS = new Set(['PAYMENT_REQUIRED', 'INSUFFICIENT_FUNDS', 'CONFLICT']);

export function replyOf({ status, body }: Answer): Reply {
  if (status === 200) return 'done';
  if (REFUSALS.has(body?.error?.code)) return 'refused';
  throw new Error(`answered with ${status}: ${JSON.stringify(body)}`);
}

const keyed = (path: string, options: RequestOptions): PreparedCall => ({
  path,
  options: { ...options, headers: { ...options.headers, 'idempotency-key': randomBytes(12).toString('hex') } },
});

async function moneyCall(run: ModelRun, { kind, who, amountMicro }: Movement): Promise<PreparedCall> {
  const { key, treasuryId, wallet } = run.clients[who];
  const amount = formatUsdc(amountMicro);
  if (kind === 'withdraw')
    return keyed('/payments/withdraw', { key, body: { amount, treasuryId, to: wallet.address } });
  return paidCall(run, who, keyed('/payments/treasury/deposit', { key, body: { amount, treasuryId } }));
}

async function invokeCall(run: ModelRun, { who, means, priceMicro, end }: Invocation): Promise<PreparedCall> {
  const agent = run.world.agents.find((each) => each.priceMicro === priceMicro);
  if (!agent) throw new Error(`no agent has the price ${priceMicro}`);
  const deadline = new Date(run.world.node.clock.now().getTime() + DEADLINE_MS).toISOString();
  const { key } = run.clients[who];
  // A call that names who is to be told does not wait for its end; nobody listens there.
  const told = end === null ? { webhookUrl: 'http://127.0.0.1:1/' } : {};
  const body = { task: 'model', input: toOrders(end), deadline, ...told };
  const headers: Record<string, string> = { 'x-payment-method': means, 'x-sync': String(end !== null) };
  const call = keyed(`/invoke/${agent.id}`, { key, body, headers });
  return means === 'x402' ? paidCall(run, who, call) : call;
}

/** Long enough for all that happens in a run but the passing of deadlines. */
export const DEADLINE_MS = 2 * 3_600_000;

/** Validity of payments: minutes pass while processes die over a call, and other tests cover expiry. */
const PAYABLE_FOR_S = 900;

/** The call, with a payment for the terms of a first unpaid attempt. */
async function paidCall(run: ModelRun, who: 0 | 1, call: PreparedCall): Promise<PreparedCall> {
  const { 'idempotency-key': _key, ...unkeyed } = call.options.headers;
  const unpaid = await run.world.node.request('POST', call.path, { ...call.options, headers: unkeyed });
  if (unpaid.status !== 402) throw new Error(`402 was due, not ${unpaid.status}: ${JSON.stringify(unpaid.body)}`);
  const nowS = Math.floor(run.world.node.clock.now().getTime() / 1000);
  const payment = await payV2(run.world.token, run.clients[who].wallet, unpaid, {
    validBefore: BigInt(nowS + PAYABLE_FOR_S),
  });
  return { ...call, options: { ...call.options, headers: { ...call.options.headers, ...payment } } };
}

/** USDC sent to the node, and read from the chain by whichever process is there. */
async function plainTransfer(run: ModelRun, { who, amountMicro }: Movement): Promise<() => Promise<Reply>> {
  const { wallet } = run.clients[who];
  let sent: Promise<boolean> | null = null;
  return async () => {
    sent ??= sendPlainly(run.world, wallet, amountMicro);
    if (!(await sent)) return 'refused';
    const { ctx, signal } = run.world.node.current();
    await readTransfers(ctx);
    signal.throwIfAborted();
    return 'done';
  };
}

/** The agent answers, and the request comes to its end: by that, or by what was faster. */
async function letAnswer(run: ModelRun, { ref, end }: Operation & { kind: 'answer' }): Promise<Reply> {
  const requestId = run.requestIds.get(ref) ?? '';
  const { key } = run.clients[run.whose.get(ref) ?? 0];
  for (const agent of run.world.agents) agent.tell(requestId, end);
  const hasEnded = await until(
    async () => {
      const { body } = await run.world.node.look(`/invoke/${requestId}`, key);
      return body.data.completedAt === null ? null : true;
    },
    { timeoutMs: WAIT_MS, firstMs: 2, maxMs: 50 },
  );
  if (!hasEnded) throw new Error(`request ${ref} (${requestId}) does not end`);
  return 'done';
}
