import { type EndedCall, recordCalls } from '../agents/record-calls.ts';
import type { HasDb } from '../db/database.ts';
import { isRolledBack } from '../db/is-rolled-back.ts';
import type { Tx } from '../db/sql.ts';
import { createBatcher } from '../lib/batcher.ts';
import type { HasClock } from '../lib/clock.ts';
import type { HasMetrics } from '../lib/metrics.ts';
import { endHolds } from '../payments/hold-money.ts';
import { owePayer } from '../payments/refund-payer.ts';
import { agentTreasuryId } from '../payments/treasury.ts';
import type { HasChain } from '../payments/x402/chain-info.ts';
import type { NewChainPayment } from '../payments/x402/chain-payment.ts';
import type { HasWallet } from '../payments/x402/node-wallet.ts';
import type { HasSettler } from '../payments/x402/settler.ts';
import { costOf, type Invocation, type Outcome } from './invocation.ts';
import { endInvocations, findInvocation, type InvocationEnd } from './invocation-store.ts';

export interface Finish {
  readonly invocation: Invocation;
  readonly outcome: Outcome;
}

/** Ends invocations: the one way in which a request that ran stops running and its money finds its place. */
export interface Finisher {
  /** The ended invocation: as this outcome left it, or as another ended it before. */
  finish(finish: Finish): Promise<Invocation>;
}

export interface HasFinisher {
  readonly finisher: Finisher;
}

type FinishContext = HasDb & HasClock & HasChain & HasWallet & HasSettler & HasMetrics;

const MAX_BATCH = 100;

export function createFinisher(ctx: FinishContext): Finisher {
  const batcher = createBatcher<Finish, Invocation | null>({
    maxSize: MAX_BATCH,
    canSplit: isRolledBack,
    run: async (items) => {
      const now = ctx.clock.now();
      const ends = new Map(items.map((item) => [item.invocation.id, toEnd(item)]));
      const { ended, refunds } = await ctx.db.transaction((tx) => finishAll(ctx, tx, items, ends, now));
      for (const refund of refunds) void ctx.settler.settle(refund);
      for (const id of ended) {
        const end = ends.get(id);
        if (end) ctx.metrics.invocationsEnded.inc({ status: end.status, reason: end.errorCode ?? '' });
      }
      return items.map(({ invocation }) => {
        const end = ends.get(invocation.id);
        return ended.has(invocation.id) && end ? { ...invocation, ...end, completedAt: now } : null;
      });
    },
  });
  return {
    async finish(item) {
      const finished = await batcher.add(item);
      return finished ?? (await findInvocation(ctx.db, item.invocation.id)) ?? item.invocation;
    },
  };
}

function toEnd({ invocation, outcome }: Finish): InvocationEnd {
  const costMicro = costOf(outcome, invocation.priceMicro);
  const isCompleted = outcome.kind === 'completed';
  // What was never paid is not given back.
  const paidMicro = outcome.kind === 'failed' && outcome.reason === 'payment_failed' ? 0n : invocation.priceMicro;
  return {
    id: invocation.id,
    attempt: invocation.attempt,
    status: outcome.kind,
    result: isCompleted ? outcome.result : null,
    costMicro,
    refundMicro: paidMicro - costMicro,
    errorCode: isCompleted ? null : outcome.reason,
    errorMessage: isCompleted ? null : outcome.message,
  };
}

/**
 * State, ledger, refund and the agent's totals in one transaction. Only the invocations that this call ends move money; the
 * others were ended, or taken over, by somebody else.
 */
async function finishAll(
  ctx: FinishContext,
  tx: Tx,
  items: readonly Finish[],
  ends: ReadonlyMap<string, InvocationEnd>,
  now: Date,
): Promise<{ ended: Set<string>; refunds: NewChainPayment[] }> {
  const ended = await endInvocations(tx, [...ends.values()], now);
  const won = items.filter(({ invocation }) => ended.has(invocation.id));
  const held = won.filter(({ invocation }) => invocation.payerLedgerId !== null);
  const holdEnds = held.map(({ invocation }) => ({
    id: invocation.id,
    captureMicro: ends.get(invocation.id)?.costMicro ?? 0n,
    creditId: agentTreasuryId(invocation.agentId),
  }));
  await endHolds(tx, holdEnds, now);
  const refunds = await oweBack(ctx, tx, won, ends);
  await recordCalls(
    tx,
    won.map((item) => toEndedCall(item, now)),
    now,
  );
  return { ended, refunds };
}

/** A treasury has its money back with the hold; a wallet is paid back on chain. */
async function oweBack(
  ctx: FinishContext,
  tx: Tx,
  won: readonly Finish[],
  ends: ReadonlyMap<string, InvocationEnd>,
): Promise<NewChainPayment[]> {
  const refunds: NewChainPayment[] = [];
  for (const { invocation } of won) {
    const amountMicro = ends.get(invocation.id)?.refundMicro ?? 0n;
    if (invocation.paymentMethod !== 'x402' || !invocation.payerLedgerId || amountMicro === 0n) continue;
    const refund = await owePayer(ctx, tx, {
      requestId: invocation.id,
      accountId: invocation.accountId,
      ledgerAccountId: invocation.payerLedgerId,
      address: invocation.payerLedgerId.slice('payer:'.length),
      amountMicro,
    });
    if (refund) refunds.push(refund);
  }
  return refunds;
}

/** What counts against an agent is its own doing: a call that nobody let it answer does not. */
function toEndedCall({ invocation, outcome }: Finish, now: Date): EndedCall {
  const durationMs = now.getTime() - (invocation.startedAt ?? invocation.createdAt).getTime();
  const { agentId } = invocation;
  if (outcome.kind === 'completed') return { agentId, end: 'completed', durationMs };
  if (outcome.reason === 'payment_failed' || outcome.reason === 'agent_removed')
    return { agentId, end: 'void', durationMs };
  return { agentId, end: outcome.reason === 'agent_unreachable' ? 'unreachable' : 'failed', durationMs };
}
