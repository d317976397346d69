import type { KnownCaller } from '../../accounts/caller.ts';
import { TakeKeyFirstError } from '../../accounts/idempotency/once.ts';
import { countingFree } from '../../accounts/limits/free-calls.ts';
import { budgetOf, dayExceeded } from '../../accounts/spending-limits.ts';
import type { CallableAgent } from '../../agents/agent.ts';
import { requireAgent } from '../../agents/search/find-agent.ts';
import { requireFiles, requireNoFiles } from '../../files/file-refs.ts';
import { ownerOf } from '../../files/receive-file.ts';
import { AppError } from '../../lib/app-error.ts';
import { newId } from '../../lib/id.ts';
import { openEarning } from '../../payments/ledger/treasury.ts';
import type { TakenDeposit } from '../../payments/schemes/batch-settlement/take-deposit.ts';
import type { PayablePurchase } from '../../payments/schemes/exact/authorize-payment.ts';
import type { Means } from '../../payments/schemes/scheme.ts';
import { schemeOf } from '../../payments/schemes/schemes.ts';
import type { Carrier } from '../../payments/settlement/settler.ts';
import { PaymentRequiredError, paymentRequired } from '../../payments/x402/payment-required.ts';
import { onPresented } from '../../payments/x402/presented-payment.ts';
import { DeadlinePassedError, deadlineFor } from '../deadline.ts';
import { shownCost } from '../finish/end-invocations.ts';
import type { PaymentMethod } from '../invocation.ts';
import { agreedTerms, pairOf, readKnownMeanwhile } from '../pricing/agreed-price.ts';
import { findPriced, requirePaidInFull } from '../pricing/find-price.ts';
import { purchaseUsed, quoteUsed } from '../pricing/quote-invocation.ts';
import { withoutQuestions } from '../remote/require-at-home.ts';
import { runOn } from '../run/run-invocation.ts';
import { callOf, requireLine, requireRoomToPay } from '../run/run-queued.ts';
import type { Reservation } from '../run/runner.ts';
import { type Call, type Side, tenantOf } from '../run/slots.ts';
import { requireStorage } from '../storage.ts';
import { latestEnd } from '../turns/turn-times.ts';
import type { AcceptAnswer, Acceptance } from './accept-invocations.ts';
import {
  AgentChangedError,
  type Choice,
  chooseAgent,
  isHeldBack,
  newInvocation,
  retryOnAgentChange,
} from './choose-agent.ts';
import { findConcurrent, findEarlierCall, retryAsReplay } from './find-earlier-call.ts';
import { purchaseOf } from './invocation-purchase.ts';
import type { Input, InvokeContext, Invoked, InvokeInput } from './invoke-input.ts';
import { payAndRun } from './pay-and-run.ts';
import { chooseMethod, requireAffordable, requirePayable, unaffordable } from './require-payable.ts';

/**
 * Starts an invocation, or finds the one that the key or the shown payment was for. From the top: decide (was it made before?), price, choose
 * the agent, authorize the payment, admit, accept in one transaction, run.
 */
export function invokeAgent(anyCtx: InvokeContext, caller: KnownCaller, input: InvokeInput): Promise<Invoked> {
  // What is paid by a presented payment happens on its network.
  const ctx = onPresented(anyCtx, input.shown);
  return retryOnAgentChange(ctx, () => retryAsReplay(input, () => decide(ctx, caller, input)));
}

/** Throws AgentChangedError when the agent changed before the request was stored. */
async function decide(ctx: InvokeContext, caller: KnownCaller, given: InvokeInput): Promise<Invoked> {
  const looking = requireAgent(ctx, given.agentId);
  looking.catch(() => undefined);
  const { input: found, earlier, offeredId, purchaseFor } = await findEarlierCall(ctx, caller, given, looking);
  if (earlier) return earlier;
  const input = { ...found, body: await withoutQuestions(ctx, caller, found) };
  const { asked, price } = await findPriced(ctx, caller, input, looking);
  if (price.isUsed) {
    // A concurrent twin of this request with the same payment may have used the quote.
    const twin = await findConcurrent(ctx, input, purchaseFor(price.priceMicro));
    if (twin) return twin;
    throw quoteUsed();
  }
  const choice = await chooseAgent(ctx, caller, {
    ...input,
    agent: asked,
    priceMicro: price.priceMicro,
    usageTerms: price.usageTerms,
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

/** Keeps the files of the input for as long as the call may need them. Throws when there are some that its agent can't get. */
async function requireFilesOf(
  ctx: InvokeContext,
  caller: KnownCaller,
  { body }: Input,
  { agent, deadline }: { readonly agent: CallableAgent; readonly deadline: Date },
): Promise<void> {
  if (agent.home !== null) return requireNoFiles(body.input);
  // Questions put the deadline off.
  const neededUntil = body.interactive ? latestEnd(ctx.clock.now()) : deadline;
  await requireFiles(ctx, body.input, { ownerId: ownerOf(caller), deadline: neededUntil });
}

async function startCounted(ctx: InvokeContext, caller: KnownCaller, input: Input, choice: Choice): Promise<Invoked> {
  const { agent } = choice;
  if (!input.shown) requireAffordable(input.body, choice.priceMicro, choice.usageTerms);
  const purchase = purchaseOfChoice(ctx, caller, input, choice);
  // Other nodes are paid on the default network.
  if (choice.agent.home && ctx.chain.ledgerAsset !== null) throw paymentRequired(ctx, purchase.due, 'invalid_network');
  const deadline = deadlineFor(ctx, input);
  await requireFilesOf(ctx, caller, input, { agent, deadline });
  const knowing = readKnownMeanwhile(ctx, caller, agent, input.keyless !== undefined);
  const { method, means } = await authorize(ctx, caller, input, { choice, purchase });
  const priceMicro = means?.priceMicro ?? choice.priceMicro;
  requirePaidInFull(ctx, choice, priceMicro, purchase.due);
  requireAffordable(input.body, priceMicro, choice.usageTerms);
  const isSigned = method === 'x402';
  const known = await knowing;
  const agreed = agreedTerms(ctx, caller, known, { ...choice, body: input.body, priceMicro, isSigned });

  const side = input.isAwaited ? 'front' : 'back';
  const slot = isSigned ? null : reserve(ctx, callOf(caller, agent.id), side);
  const isQueued = slot?.granted[0] === false;
  const leaving: (() => void)[] = [() => slot?.giveBack()];
  try {
    const entered = await enter(ctx, input, means);
    if (entered) leaving.push(entered);
    // A repetition may have waited for its turn behind this very call.
    const twin = entered && (await findConcurrent(ctx, input, purchase));
    if (twin) return twin;
    const ready = await makeReady(ctx, caller, input, { means, purchase }).catch((error: unknown) =>
      orConcurrent(ctx, input, purchase, error),
    );
    if ('isReplay' in ready) return ready;
    const line = { count: isQueued ? 1 : 0, agentIds: [agent.id], priority: input.body.priority, deadline };
    leaving.push(await requireLine(ctx, caller, line));
    const invocation = newInvocation(ctx, ready.payer, choice, input, {
      ...{ method, scheme: ready.means?.scheme ?? null, payerLedgerId: ready.means?.payerLedgerId ?? null },
      id: ready.means?.requestId ?? input.requestId ?? newId('req'),
      ...{
        priceMicro,
        deadline,
        isQueued,
        hasToSettle: ready.means !== null && schemeOf(ready.means).fundedAt === 'before_run',
      },
      ...{ shownShare: choice.shownShare, isHeldBack: await isHeldBack(ctx, agent, input.body) },
    });
    leaving.push(ctx.runner.expect([invocation.id]));
    const { means: paidBy, deposit } = ready;
    const steadyFor = known === 'steady' ? caller.accountId : null;
    const started = { invocation, means: paidBy, deposit, agreed, purchase, side, steadyFor } as const;
    return await start(ctx, caller, input, { ...started, choice });
  } finally {
    for (const leave of leaving.toReversed()) leave();
  }
}

/** Binds the payment to this purchase of the chosen agent. */
const purchaseOfChoice = (ctx: InvokeContext, caller: KnownCaller, input: Input, choice: Choice): PayablePurchase =>
  purchaseOf(ctx, caller, input, {
    amountMicro: choice.priceMicro,
    alternativeId: choice.requestedAgentId === null && !choice.chosen ? null : choice.agent.id,
    isOnDefault: choice.agent.home !== null,
    shownMicro: shownCost(choice.priceMicro, choice.shownShare),
    usageTerms: choice.usageTerms,
  });

/** Chooses the way to pay, and checks the payment. Nothing is written. null: the call is free. */
async function authorize(
  ctx: InvokeContext,
  caller: KnownCaller,
  input: Input,
  { choice: { priceMicro }, purchase }: { readonly choice: Choice; readonly purchase: PayablePurchase },
): Promise<{ readonly method: PaymentMethod; readonly means: Means | null }> {
  const { method, scheme, treasuryId } = await chooseMethod(ctx, caller, input, priceMicro);
  await requireStorage(ctx, caller);
  if (method === 'x402') {
    requireRoomToPay(ctx, caller);
    await requirePayable(ctx, caller, input, priceMicro);
  }
  const means = scheme && (await scheme.authorize(ctx, { shown: input.shown, treasuryId }, purchase));
  return { method, means };
}

/** Waits for the turn of the payment; null: none is needed. */
async function enter(ctx: InvokeContext, { shown }: Input, means: Means | null): Promise<(() => void) | null> {
  if (!shown || !means) return null;
  return (await schemeOf(means).enter?.(ctx, means, shown)) ?? null;
}

interface Ready {
  readonly payer: KnownCaller;
  readonly means: Means | null;
  readonly deposit: TakenDeposit | null;
}

/**
 * Prepares the source of the money and admits the payer: without an API key, the account of the paying wallet. A payment presented where
 * none is due was not checked, so its wallet is ignored.
 */
async function makeReady(
  ctx: InvokeContext,
  caller: KnownCaller,
  { shown, keyless, keepCount }: Input,
  { means, purchase }: { readonly means: Means | null; readonly purchase: PayablePurchase },
): Promise<Ready> {
  if (!means || !shown) return { payer: caller, means, deposit: null };
  const scheme = schemeOf(means);
  const admit = async () => keyless?.admit(shown.payer);
  const deposit = (await scheme.prepare?.(ctx, means, { shown, purchase, admit, keepCount })) ?? null;
  if (!keyless) return { payer: caller, means, deposit };
  await scheme.requireOfPayer?.(ctx, means, purchase);
  const payer = await keyless.admit(shown.payer);
  return { payer, means: scheme.inNameOf?.(means, payer.accountId) ?? means, deposit };
}

/** Finds the same call accepted by another process during the check here, as a paid call must not be refused; else throws the refusal. */
async function orConcurrent(
  ctx: InvokeContext,
  input: Input,
  purchase: PayablePurchase,
  refusal: unknown,
): Promise<Invoked> {
  const twin = refusal instanceof PaymentRequiredError ? await findConcurrent(ctx, input, purchase) : null;
  if (twin) return twin;
  throw refusal;
}

/** Calls with a waiting caller bypass the queue, as far as there is room in front. */
const reserve = (ctx: InvokeContext, call: Call, side: Side): Reservation =>
  side === 'front' ? ctx.runner.reserve([call], side) : ctx.backlog.reserve([call]);

interface Start extends Pick<Acceptance, 'invocation' | 'means' | 'agreed'> {
  readonly choice: Choice;
  readonly purchase: PayablePurchase;
  readonly side: Side;
  readonly deposit: TakenDeposit | null;
  readonly steadyFor: string | null;
}

/** Accepts the request, and runs it here unless it is queued. */
async function start(ctx: InvokeContext, caller: KnownCaller, input: Input, item: Start): Promise<Invoked> {
  const { invocation, means, purchase, choice, side, deposit, steadyFor } = item;
  const { agent, quoteId } = choice;
  // Version 1 has no offer to echo: what was signed must be the present price.
  const isOffered = means !== null && means.scheme !== 'treasury' && input.shown?.version === 2;
  const sale = { agent, isPriceLocked: quoteId !== null || isOffered, steadyFor };
  const { waitingId } = input;
  if (means) await schemeOf(means).open?.(ctx, means);
  if (means) await openEarning(ctx, agent.id, means.payerLedgerId);
  const { late } = input.once;
  const lateKey = late?.key ?? null;
  const acceptance = { ...item, quoteId, sale, waitingId, budget: budgetOf(caller), lateKey };
  const { answer, carrier } = await acceptCarried(ctx, acceptance);
  if (answer.kind === 'accepted') late?.taken();
  if (means) await schemeOf(means).accepted?.(ctx, means, answer.kind === 'accepted');
  if (answer.kind !== 'accepted') return orRefusal(ctx, caller, input, { ...item, answer });

  const payment = means?.payment ?? null;
  const invoked = { invocation, payment, due: purchase.due, deposit, isReplay: false };
  if (invocation.worker === null) {
    ctx.backlog.add(tenantOf(invocation));
    return { ...invoked, ending: null };
  }
  const entersLater = means !== null && schemeOf(means).fundedAt !== 'reserve';
  const run = async (signal: AbortSignal) => {
    if (payment) return payAndRun(ctx, invocation, { payment, carrier }, signal);
    if (entersLater) await ctx.runner.enter(invocation, signal);
    return runOn(ctx, invocation, agent, signal);
  };
  if (late && input.answerOf && input.isAwaited && !input.isStreamed)
    ctx.dueAnswers.set(invocation.id, { late, answerOf: input.answerOf });
  const ending = ctx.runner.track(invocation, run, { side, entersLater });
  const forget = () => void ctx.dueAnswers.delete(invocation.id);
  void ending.then(forget, forget);
  return { ...invoked, ending };
}

/** Accepts a call, with the transaction of its payment where that is possible. Returns that transaction if it was stored. */
async function acceptCarried(
  ctx: InvokeContext,
  acceptance: Acceptance,
): Promise<{ readonly answer: AcceptAnswer; readonly carrier: Carrier | null }> {
  const { means, quoteId, budget } = acceptance;
  const isPlain = quoteId === null && budget === null;
  const carrier = means?.payment && isPlain ? await ctx.settler.carry(means.payment) : null;
  let isCarried = false;
  try {
    const answer = await ctx.acceptor.accept({
      ...acceptance,
      means: means && carrier ? { ...means, carrier } : means,
    });
    isCarried = answer.kind === 'accepted' && answer.isCarried === true;
    return { answer, carrier: isCarried ? carrier : null };
  } finally {
    if (!isCarried) carrier?.drop();
  }
}

/** The call that a refused acceptance repeats; otherwise throws why it was refused. */
async function orRefusal(
  ctx: InvokeContext,
  caller: KnownCaller,
  input: Input,
  { answer, invocation, means, purchase, choice }: Start & { readonly answer: Exclude<AcceptAnswer, Accepted> },
): Promise<Invoked> {
  switch (answer.kind) {
    case 'key_first':
      throw new TakeKeyFirstError();
    case 'too_late':
      throw new DeadlinePassedError();
    case 'given_up':
      throw conflict('The caller ended this call before its payment came. Nothing was charged for it.');
    case 'waits':
      throw conflict(
        `This payment is for the A2A task ${invocation.id}, and nothing was charged. Send it in an A2A message with this taskId, or pay the terms of this call.`,
      );
    case 'agent_changed':
      ctx.steadyPairs.delete(pairOf(caller.accountId, choice.agent.id));
      throw new AgentChangedError(choice.agent.id);
    case 'over_budget':
      throw dayExceeded(answer.remainingMicro);
    case 'insufficient':
      throw await unaffordable(ctx, caller, {
        ...{ forced: input.forced, priceMicro: invocation.priceMicro, availableMicro: answer.availableMicro },
        terms: () => paymentRequired(ctx, purchase.due, null),
      });
    case 'quote_used':
    case 'claimed':
    case 'voucher_refused': {
      // Its wallet may have got its account with this very call, or with the concurrent one: keys are held by that.
      const known = purchase.keyHolderId === null ? { ...purchase, keyHolderId: invocation.accountId } : purchase;
      const concurrent = await findConcurrent(ctx, input, known);
      if (concurrent) return concurrent;
      if (answer.kind === 'quote_used') throw quoteUsed();
      throw (means && (await schemeOf(means).explain?.(ctx, means, answer, purchase))) ?? purchaseUsed();
    }
  }
}

type Accepted = { readonly kind: 'accepted' };

const conflict = (message: string) => new AppError('CONFLICT', message);
