import type { CallFace } from '@agent-network/contracts/agents/agent-calls';
import type { InvocationRequest } from '@agent-network/contracts/invocations/invocations';
import type { KnownCaller } from '../../access/caller/caller.ts';
import { budgetOf, dayExceeded } from '../../access/caller/spending-limits.ts';
import { findMade, type Once } from '../../access/idempotency/once.ts';
import type { HasNewKeyLimit } from '../../access/keys/new-key-limit.ts';
import { countingFree, type HasFreeCalls } from '../../access/limits/free-calls.ts';
import type { CallableAgent } from '../../agents/agent.ts';
import { requireAgent } from '../../agents/alternatives/find-agent.ts';
import type { HasListing } from '../../agents/search/listing.ts';
import { invalid } from '../../lib/app-error.ts';
import { newId } from '../../lib/id.ts';
import { failpoint } from '../../lib/process/failpoint.ts';
import type { HasPlatformFee } from '../../payments/ledger/platform-fee.ts';
import { type HasSeenTreasuries, openPayer } from '../../payments/ledger/treasury.ts';
import { findHolder, findShownBefore, type PayablePurchase } from '../../payments/x402/authorize-payment.ts';
import { refuseVoucher } from '../../payments/x402/channels/authorize-voucher.ts';
import { channelAccountId } from '../../payments/x402/channels/channel.ts';
import type { HasChannels } from '../../payments/x402/channels/channels.ts';
import type { TakenDeposit } from '../../payments/x402/channels/take-deposit.ts';
import type { PaymentChecks } from '../../payments/x402/payment-checks.ts';
import type { Shown } from '../../payments/x402/payment-header.ts';
import { paymentRequired } from '../../payments/x402/payment-required.ts';
import { agreedTerms, readKnownMeanwhile } from '../agreed/agreed-price.ts';
import { deadlineFor } from '../deadline.ts';
import { shownCost } from '../finish/shown-cost.ts';
import type { Invocation } from '../invocation.ts';
import { findInvocation } from '../invocation-store.ts';
import { type Call, laneOf, type Side } from '../places/places.ts';
import type { Reservation } from '../places/runner.ts';
import { requireStorage } from '../retention/require-storage.ts';
import { runOn } from '../run/run-invocation.ts';
import type { Acceptance, Intake } from './accept-invocations.ts';
import { AgentChangedError, withPresentAgent } from './agent-changed.ts';
import { authorizeCall, inNameOfPayer } from './authorize-call.ts';
import { type Choice, chooseAgent } from './choose-agent.ts';
import { chooseMeans } from './choose-means.ts';
import { findPriced, priceAgain } from './find-price.ts';
import { type KeylessPayer, offeredAlternative, purchaseOf } from './invocation-purchase.ts';
import { requirePaidInFull } from './locked-price.ts';
import { isHeldBack, newInvocation } from './new-invocation.ts';
import { orRepetition } from './or-repetition.ts';
import { type PayContext, payAndRun } from './pay-and-run.ts';
import { acceptInTurn, depositFor, enterDeposits, findBought, findBoughtByVoucher } from './pay-by-voucher.ts';
import { purchaseUsed, quoteUsed } from './quote-invocation.ts';
import { type Invoked, replay, replayRequest } from './replay.ts';
import { callOf, requireLine, requireRoomToPay } from './require-line.ts';
import { requireAffordable, requirePayable } from './require-payable.ts';
import { unaffordable } from './unaffordable.ts';

/** Treasuries and channels that pay, the operator's fee, and the count of calls that nobody pays for. */
interface Tills extends HasSeenTreasuries, HasChannels, HasPlatformFee, HasFreeCalls, HasNewKeyLimit {}

export interface InvokeContext extends PayContext, PaymentChecks, Intake, Tills, HasListing {}

export interface InvokeInput extends Pick<Acceptance, 'waitingId'> {
  readonly agentId: string;
  readonly quoteId: string | null;
  readonly body: InvocationRequest;
  /** The x402 payment or voucher that came with the request. */
  readonly shown: Shown | null;
  readonly forced: 'x402' | 'treasury' | null;
  /** True when the caller's client says that it can pay by channel. */
  readonly asksForChannels?: boolean;
  /** True when the caller waits for the result. */
  readonly isAwaited: boolean;
  /** True when the agent is asked to stream. */
  readonly isStreamed: boolean;
  /** The node that passes the call on; null: none. */
  readonly via: string | null;
  /** The way in which the call came. */
  readonly face: CallFace;
  /** The network address of the caller; null: unknown. */
  readonly client: string | null;
  readonly once: Once;
  /** Told when the call is about to cost the node gas before it is accepted: from then on it counts, whatever comes of it. */
  readonly keepCount: () => void;
  readonly keyless?: KeylessPayer;
}

/** With the id that the request must have, derived from its Idempotency-Key. */
export type Input = InvokeInput & { readonly requestId: string | null };

/** Starts an invocation, or finds the one that the shown payment was for. */
export const invokeAgent = (ctx: InvokeContext, caller: KnownCaller, input: InvokeInput): Promise<Invoked> =>
  withPresentAgent(ctx, () => orRepetition(input, () => invokePresent(ctx, caller, input)));

/** All branching of the start is here. Throws AgentChangedError when the agent changed before the request was stored. */
async function invokePresent(ctx: InvokeContext, caller: KnownCaller, given: InvokeInput): Promise<Invoked> {
  const { made, id: requestId } = await findMade(ctx, given.once, 'req', (id) => findInvocation(ctx.db, id), wasPaid);
  const input: Input = { ...given, requestId };
  const buy = (alternativeId: string | null, amountMicro: bigint) =>
    purchaseOf(ctx, caller, input, { amountMicro, alternativeId });
  if (made) return replayRequest(ctx, made, buy(made.requestedAgentId && made.agentId, made.priceMicro).due);
  if (input.shown?.version === 1 && input.body.fallback)
    throw invalid('fallback', 'needs a payment of x402 version 2, which names the agent that it is for');
  const { offeredId, echoedId } = offeredAlternative(ctx, caller, input);
  const find = async () => input.shown && findShownBefore(ctx, input.shown, buy(offeredId, 0n));
  const looking = requireAgent(ctx, input.agentId);
  looking.catch(() => undefined);
  const bought = await findBoughtByVoucher(ctx, input.shown, buy(echoedId, 0n));
  if (bought) return replayRequest(ctx, bought, buy(echoedId, bought.priceMicro).due);
  const found = await find();
  // A settled payment is honoured, even if the agent or the quote has changed since.
  if (found?.state === 'settled') return replay(ctx, found, buy(offeredId, found.authorization.valueMicro).due);
  if (found)
    return replay(ctx, found, buy(offeredId, await priceAgain(ctx, caller, input, { found, offeredId, looking })).due);
  const { asked, price } = await findPriced(ctx, caller, input, looking);
  // A concurrent twin of this request with the same payment may have used the quote.
  const twin = price.isUsed ? await find() : null;
  if (twin) return replay(ctx, twin, buy(offeredId, offeredId ? twin.authorization.valueMicro : price.priceMicro).due);
  const twinBought = price.isUsed ? await findBought(ctx, input.shown, buy(offeredId, 0n)) : null;
  if (twinBought) return replayRequest(ctx, twinBought, buy(offeredId, twinBought.priceMicro).due);
  if (price.isUsed) throw quoteUsed();

  const choice = await chooseAgent(ctx, caller, {
    ...input,
    agent: asked,
    priceMicro: price.priceMicro,
    offeredId,
    shownShare: price.shownShare,
  });
  return startChosen(ctx, caller, input, choice);
}

/** Prices, pays and starts a call of the chosen agent. Throws RATE_LIMITED for a free call beyond the caller's limit of those. */
export async function startChosen(
  ctx: InvokeContext,
  caller: KnownCaller,
  input: Input,
  choice: Choice,
): Promise<Invoked> {
  const isFree = choice.priceMicro === 0n;
  const by = isFree && input.keyless ? await input.keyless.admitVisitor() : caller;
  return countingFree(ctx, by, { client: input.client, calls: isFree ? 1 : 0 }, () =>
    startCounted(ctx, by, input, choice),
  );
}

async function startCounted(ctx: InvokeContext, caller: KnownCaller, input: Input, choice: Choice): Promise<Invoked> {
  const { agent, quoteId, requestedAgentId } = choice;
  if (!input.shown) requireAffordable(input.body, choice.priceMicro);
  const alternativeId = requestedAgentId === null && !choice.chosen ? null : agent.id;
  const shownMicro = shownCost(choice.priceMicro, choice.shownShare);
  const purchase = purchaseOf(ctx, caller, input, { amountMicro: choice.priceMicro, alternativeId, shownMicro });
  const deadline = deadlineFor(ctx, input);
  const knowing = readKnownMeanwhile(ctx, caller, agent.id, input.keyless !== undefined);
  const means = await chooseMeans(ctx, caller, input, choice.priceMicro);
  await requireStorage(ctx, caller);
  const isByX402 = means.method === 'x402';
  if (isByX402) requireRoomToPay(ctx, caller);
  if (isByX402) await requirePayable(ctx, caller, input, choice.priceMicro);
  const authorized = isByX402 ? await authorizeCall(ctx, input.shown, purchase) : { payment: null, voucher: null };
  const priceMicro =
    authorized.payment?.authorization.valueMicro ?? authorized.voucher?.priceMicro ?? choice.priceMicro;
  requirePaidInFull(ctx, choice, priceMicro, purchase.due);
  requireAffordable(input.body, priceMicro);
  const priced = { ...choice, body: input.body, priceMicro, isSigned: isByX402 };
  const agreed = agreedTerms(ctx, caller, await knowing, priced);
  const side = input.isAwaited ? 'front' : 'back';
  const place = isByX402 ? null : reserve(ctx, callOf(caller, agent.id), side);
  const isQueued = place?.granted[0] === false;
  let leaveLine: (() => void) | null = null;
  let forget: (() => void) | null = null;
  const leaveDeposits = await enterDeposits(ctx, input.shown, authorized.voucher);
  try {
    // A repetition may have waited here for this very deposit.
    const twin = leaveDeposits && (await findBought(ctx, input.shown, purchase));
    if (twin) return await replayRequest(ctx, twin, purchase.due);
    const deposit = await depositFor(ctx, input, { voucher: authorized.voucher, purchase });
    const { payment, voucher, payer } = await inNameOfPayer(ctx, caller, input, { ...authorized, due: purchase.due });
    leaveLine = await requireLine(ctx, caller, {
      ...{ count: isQueued ? 1 : 0, agentIds: [agent.id] },
      ...{ priority: input.body.priority, deadline },
    });
    const invocation = newInvocation(ctx, payer, choice, input, {
      ...means,
      payerLedgerId:
        payment?.ledgerAccountId ?? (voucher && channelAccountId(voucher.channelId)) ?? means.payerLedgerId,
      id: payment?.subjectId ?? voucher?.requestId ?? input.requestId ?? newId('req'),
      ...{ priceMicro, deadline, isQueued, hasToSettle: payment !== null },
      ...{ shownShare: choice.shownShare, isHeldBack: await isHeldBack(ctx, agent, input.body) },
    });
    // Version 1 has no offer to echo: what was signed must be the present price.
    const isOffered = payment !== null || voucher !== null;
    const sale = { agent, isPriceLocked: quoteId !== null || (isOffered && input.shown?.version === 2) };
    forget = ctx.runner.expect([invocation.id]);
    return await start(ctx, caller, agent, {
      invocation,
      payment,
      voucher,
      budget: budgetOf(caller),
      agreed,
      sale,
      quoteId,
      purchase,
      side,
      shown: input.shown,
      forced: input.forced,
      deposit,
      waitingId: input.waitingId,
    });
  } finally {
    leaveDeposits?.();
    leaveLine?.();
    forget?.();
    place?.giveBack();
  }
}

/** Calls with a waiting caller bypass the queue, as far as there is room in front. */
const reserve = (ctx: InvokeContext, call: Call, side: Side): Reservation =>
  side === 'front' ? ctx.runner.reserve([call], side) : ctx.backlog.reserve([call]);

export const wasPaid = ({ errorCode }: Invocation) => errorCode !== 'payment_failed';

async function start(
  ctx: InvokeContext,
  caller: KnownCaller,
  agent: CallableAgent,
  item: Acceptance & {
    purchase: PayablePurchase;
    shown: Shown | null;
    forced: InvokeInput['forced'];
    side: Side;
    deposit: TakenDeposit | null;
  },
): Promise<Invoked> {
  const { invocation, payment, voucher, purchase, side, deposit } = item;
  const { due } = purchase;
  if (payment) {
    failpoint('before-open-payer');
    await openPayer(ctx, payment.authorization.from, invocation.createdAt);
    failpoint('after-open-payer');
  }
  const answer = await acceptInTurn(ctx, item);
  if (answer.kind === 'insufficient')
    throw await unaffordable(ctx, caller, {
      ...{ forced: item.forced, priceMicro: invocation.priceMicro, availableMicro: answer.availableMicro },
      terms: () => paymentRequired(ctx, due, null),
    });
  if (answer.kind === 'agent_changed') throw new AgentChangedError(agent.id);
  if (answer.kind === 'over_budget') throw dayExceeded(answer.remainingMicro);
  if (answer.kind !== 'accepted') {
    const holder = payment && (await findHolder(ctx, payment));
    if (holder) return replay(ctx, holder, due);
    // A concurrent repetition of this request may have been admitted, or the purchase was paid by the other scheme before.
    const bought = await findBought(ctx, item.shown, purchase);
    if (bought) return replayRequest(ctx, bought, due);
    if (answer.kind === 'voucher_refused' && voucher) throw await refuseVoucher(ctx, voucher, due, answer);
    throw answer.kind === 'quote_used' ? quoteUsed() : purchaseUsed();
  }
  if (invocation.worker === null) {
    ctx.backlog.add(laneOf(invocation));
    return { invocation, ending: null, payment, due, deposit, isReplay: false };
  }
  const run = async (signal: AbortSignal) => {
    if (payment) return payAndRun(ctx, invocation, payment, signal);
    if (voucher) await ctx.runner.enter(invocation, signal);
    return runOn(ctx, invocation, agent, signal);
  };
  const ending = ctx.runner.track(invocation, run, { side, entersLater: payment !== null || voucher !== null });
  return { invocation, ending, payment, due, deposit, isReplay: false };
}
