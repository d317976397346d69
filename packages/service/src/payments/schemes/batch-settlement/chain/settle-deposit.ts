import { depthFor } from '../../../../chain/blocks/confirmation-depth.ts';
import { DEPOSIT_COLLECTOR, depositCall } from '../../../../chain/channels/channel-calls.ts';
import { type ChannelConfig, channelDigestsOf, depositNonce } from '../../../../chain/channels/channel-digests.ts';
import { receiveAuthorizationDigest } from '../../../../chain/keys/authorization.ts';
import { gasOfCall, gasToTake } from '../../../../chain/settlement-call.ts';
import { isUsedBefore } from '../../../../chain/usdc-client.ts';
import { AppError } from '../../../../lib/app-error.ts';
import { until } from '../../../../lib/concurrency/until.ts';
import { newId } from '../../../../lib/id.ts';
import { failpoint } from '../../../../lib/process/failpoint.ts';
import type { Tx } from '../../../../store/sql.ts';
import type { ChainContext } from '../../../chain-outbox/chain-context.ts';
import type { ChainPayment, NewChainPayment } from '../../../chain-outbox/chain-payment.ts';
import { isOpen } from '../../../chain-outbox/chain-payment-state.ts';
import { findById, findDepositBefore, insertChainPayments } from '../../../chain-outbox/chain-payment-store.ts';
import { type Fate, findFate, SEARCH_FOR_REQUEST_MS } from '../../../chain-outbox/find-fate.ts';
import type { RefusalReason } from '../../../chain-outbox/refusal-reason.ts';
import { inAsset } from '../../../ledger/asset-account.ts';
import { gasWithinLimit } from '../../../settlement/contract-payers.ts';
import { endSpent } from '../../../settlement/end-spent.ts';
import { reasonOfRevert, requireAboutPayer } from '../../../settlement/payment-simulator.ts';
import type { SettleOutcome } from '../../../settlement/record-mined.ts';
import type { Settler } from '../../../settlement/settler.ts';
import { takenForm } from '../../../x402/read-presented-payment.ts';
import { windowRefusalOf } from '../../exact/check-payment.ts';
import { simulateInTime } from '../../exact/in-time.ts';
import type { PaymentChecks } from '../../exact/payment-checks.ts';
import { isBalanceAtLeast, knownChannels, lockBalance, wasReadAt, wasReadSince } from './channel-reading-store.ts';
import { refreshChannels } from './refresh-channels.ts';

/** A deposit that a payer authorized for a channel. */
export interface ChannelDeposit {
  readonly config: ChannelConfig;
  readonly amountMicro: bigint;
  readonly validAfterS: bigint;
  readonly validBeforeS: bigint;
  readonly salt: bigint;
  readonly signature: string;
  /** Account and network address that showed it: failures that cost gas are counted against them. */
  readonly accountId: string | null;
  readonly client: string | null;
  /** Sum of the voucher that came with it: a channel that covers it needs no deposit. */
  readonly voucherMicro?: bigint;
}

/**
 * `settled`: the money is in the channel, as deep as the amount asks for, and the channel's balance has it. `needless`: the channel covers
 * the voucher without it. `refused`: nothing moved.
 */
export type DepositOutcome =
  | { readonly state: 'settled'; readonly transactionHash: string }
  | { readonly state: 'needless' }
  | { readonly state: 'refused'; readonly reason: RefusalReason }
  | { readonly state: 'unknown'; readonly transactionHash: string | null };

export interface DepositSteps {
  /** Runs before a valid deposit is claimed. If it throws, nothing has moved, and its error is the answer. */
  readonly admit: () => Promise<void>;
  /** Called when the deposit is claimed, before it is sent. */
  readonly sent: () => void;
  /** Records the channel, in the transaction that claims the deposit. */
  readonly open: (tx: Tx, now: Date) => Promise<void>;
}

export interface DepositContext extends ChainContext, PaymentChecks {
  readonly settler: Settler;
}

const NO_GAS = 'The node cannot settle deposits now: its keys lack gas (ETH). Nothing was charged.';
/** Maximum time that a request waits for the chain; the reconciler continues after that. */
const WAIT_MS = 25_000;
/** Time in which a living process has usually recorded a deposit. */
const RECORDED_BY_NOW_MS = 3000;

/**
 * Settles a deposit, in one transaction with other payments. The nonce binds the channel, so any submitter of the authorization has paid
 * into it: that counts as settled, as does a repetition. Throws RATE_LIMITED for payers in back-off, and UNAVAILABLE while the chain does
 * not answer; nothing moved then.
 */
export async function settleDeposit(
  ctx: DepositContext,
  deposit: ChannelDeposit,
  steps: DepositSteps,
): Promise<DepositOutcome> {
  const { admit, open } = steps;
  const payment = toPayment(ctx, deposit);
  const known = await ctx.paymentFinder.find(namesOf(payment));
  if (known) return outcomeOfKnown(ctx, payment, known);
  const nowS = BigInt(Math.floor(ctx.clock.now().getTime() / 1000));
  const early = windowRefusalOf(payment.authorization, nowS);
  const before = await findDepositBefore(ctx.db, payment.channelId);
  const covered = early ? null : await coveredBefore(ctx, payment, deposit, before);
  if (covered !== null) return covered;
  const judged = early ? refused(early) : await judge(ctx, payment);
  if (judged !== null && judged.state !== 'settled') return judged;
  if (judged !== null) {
    await ctx.db.transaction((tx) => open(tx, ctx.clock.now()));
    return withBalance(ctx, payment, judged);
  }
  await admit();
  const claimed = await ctx.db.transaction(async (tx) => {
    const now = ctx.clock.now();
    await open(tx, now);
    const isOvertaken = await hasOtherCome(tx, payment, deposit, before);
    const claims = isOvertaken ? null : await insertChainPayments(tx, [payment], now);
    failpoint('before-channel-deposit-commit');
    return claims;
  });
  failpoint('after-channel-deposit-commit');
  if (claimed === null) return settleDeposit(ctx, deposit, steps);
  if (claimed.has(payment.id)) {
    steps.sent();
    return outcomeOfEnded(ctx, payment, await ctx.settler.settle(payment));
  }
  const holder = await ctx.paymentFinder.find(namesOf(payment));
  return holder ? outcomeOfKnown(ctx, payment, holder) : unknownYet;
}

/**
 * A payer that lost the answer to its deposit signs another one: that one is not taken when the first is in the channel, or on its way
 * there, or when the channel could not be read since. Null: the voucher is not covered without this deposit, or the deposit is to be refused in any case.
 */
async function coveredBefore(
  ctx: DepositContext,
  payment: OfChannel,
  { voucherMicro }: ChannelDeposit,
  before: ChainPayment | null,
): Promise<DepositOutcome | null> {
  const { channelId } = payment;
  // A chain that does not answer is told of when the deposit itself is judged.
  if (voucherMicro === undefined || !(await ctx.signatureChecker.mayBeGood(payment).catch(() => false))) return null;
  const isCovered = () => isBalanceAtLeast(ctx.db, channelId, voucherMicro);
  if (before !== null && isOpen(before.state)) {
    const { id, authorization } = before;
    const outcome = await outcomeOfEnded(ctx, { ...payment, id, authorization }, null);
    if (outcome.state === 'unknown') return outcome;
  } else if (!(await isCovered()) && (await knownChannels(ctx.db, [channelId])).length > 0)
    await refreshChannels(ctx, [channelId]).catch(() => false);
  if (await isCovered()) return { state: 'needless' };
  return before?.state === 'settled' && !(await isInBalance(ctx, channelId, before)) ? unknownYet : null;
}

/** True if a settled deposit is in the balance of its channel by the books. */
const isInBalance = (ctx: DepositContext, channelId: string, { id, authorization }: ChainPayment): Promise<boolean> =>
  wasReadSince(ctx.db, channelId, { paymentId: id, depth: depthFor(ctx.confirmations, authorization.valueMicro) });

/**
 * True if the voucher may be covered without this deposit by now: another one was claimed since `before` was looked for, here or in another
 * process. Locks the channel until the transaction ends, so that one deposit at a time is claimed for it.
 */
async function hasOtherCome(
  tx: Tx,
  { channelId }: OfChannel,
  { voucherMicro }: ChannelDeposit,
  before: ChainPayment | null,
): Promise<boolean> {
  if (voucherMicro === undefined) return false;
  const balanceMicro = await lockBalance(tx, channelId);
  const last = await findDepositBefore(tx, channelId);
  const isOther = last !== null && (isOpen(last.state) || last.id !== before?.id);
  return isOther || balanceMicro >= voucherMicro;
}

type OfChannel = NewChainPayment & { readonly channelId: string; readonly isWrapped: boolean };
type Settled = Extract<DepositOutcome, { state: 'settled' }>;
type Named = Pick<NewChainPayment, 'chainId' | 'token' | 'authorization' | 'subjectId' | 'purpose'>;

const namesOf = ({ authorization: { from, nonce }, ...rest }: Named) => ({ ...rest, from, nonce });

/** The outcome of the deposit is not known: the same one may be shown again. */
const unknownYet: DepositOutcome = { state: 'unknown', transactionHash: null };

const refused = (reason: RefusalReason): DepositOutcome => ({ state: 'refused', reason });

function toPayment(ctx: ChainContext, deposit: ChannelDeposit): OfChannel {
  const { config, amountMicro, validAfterS, validBeforeS, salt, accountId, client } = deposit;
  const { chainId, token, domainSeparator } = ctx.chain;
  const channelId = channelDigestsOf(chainId).channelIdOf(config);
  const id = newId('pay');
  const authorization = {
    from: config.payer,
    to: DEPOSIT_COLLECTOR,
    valueMicro: amountMicro,
    validAfterS,
    validBeforeS,
    nonce: depositNonce(channelId, salt),
  };
  const digest = receiveAuthorizationDigest(domainSeparator, authorization);
  const { signature, isWrapped } = takenForm(config.payer, digest, deposit.signature);
  return {
    ...{ id, chainId, token, direction: 'channel', purpose: 'channel_deposit', subjectId: id, accountId, client },
    ledgerAccountId: inAsset(`channel:${channelId}`, ctx.chain.ledgerAsset),
    authorization,
    signature,
    fingerprint: null,
    x402Version: 2,
    channelId,
    isWrapped,
    depositCall: depositCall(config, salt, { authorization, signature }),
  };
}

/** Judges a deposit that is not claimed. Null: it would be taken now. */
async function judge(ctx: DepositContext, payment: OfChannel): Promise<DepositOutcome | null> {
  await ctx.gas.requireGas(gasToTake(gasOfCall([payment])), NO_GAS);
  await ctx.payerStatus.require(payment);
  try {
    const whyBad = async () => refused(await ctx.signatureChecker.whyBad(payment, payment));
    if (!(await ctx.signatureChecker.mayBeGood(payment))) return await whyBad();
    const revert = await simulateInTime(ctx, payment);
    if (revert === null) {
      const gas = await gasWithinLimit(ctx, payment);
      if (gas === null) return refused('invalid_exact_evm_transaction_simulation_failed');
      await ctx.gas.requireGas(gasToTake(gas), NO_GAS);
      return null;
    }
    if (isUsedBefore(revert))
      return outcomeOfFate(await findFate(ctx, payment, ctx.clock.now(), SEARCH_FOR_REQUEST_MS));
    await requireAboutPayer(ctx, payment, revert);
    if (/signature/i.test(revert)) return await whyBad();
    return refused(reasonOfRevert(revert) ?? 'invalid_exact_evm_transaction_simulation_failed');
  } catch (cause) {
    if (cause instanceof AppError) throw cause;
    const message = 'The chain is unavailable, so the deposit cannot be checked now. Nothing was charged.';
    throw new AppError('UNAVAILABLE', message, {}, { cause });
  }
}

function outcomeOfFate(fate: Fate | null): DepositOutcome {
  if (fate === null) return unknownYet;
  return fate.kind === 'paid'
    ? { state: 'settled', transactionHash: fate.place.transactionHash }
    : refused('invalid_exact_evm_nonce_already_used');
}

/** The outcome of an authorization that was claimed before: for this deposit, or in vain. */
async function outcomeOfKnown(ctx: DepositContext, payment: OfChannel, known: ChainPayment): Promise<DepositOutcome> {
  if (known.channelId !== payment.channelId || known.authorization.valueMicro !== payment.authorization.valueMicro)
    return refused('invalid_exact_evm_nonce_already_used');
  return outcomeOfEnded(ctx, { ...payment, id: known.id }, null);
}

async function outcomeOfEnded(
  ctx: DepositContext,
  payment: OfChannel,
  ended: SettleOutcome | null,
): Promise<DepositOutcome> {
  if (ended?.state === 'settled') return withBalance(ctx, payment, ended);
  if (ended?.state === 'unknown') return ended;
  const stored = await until(() => findEnded(ctx, payment.id), { timeoutMs: WAIT_MS, firstMs: 20, maxMs: 500 });
  if (stored === null) return unknownYet;
  const { state, transactionHash, reason } = stored;
  if (state === 'settled' && transactionHash !== null) return withBalance(ctx, payment, { state, transactionHash });
  // Anybody may have submitted the authorization since it failed here.
  const isSpent = await ctx.usdc.isSpent(payment.authorization);
  const findUse = () => findFate(ctx, payment, stored.createdAt, SEARCH_FOR_REQUEST_MS);
  const logUntold = (error: unknown) => {
    ctx.log.warn(
      { err: error, paymentId: payment.id },
      'could not read whether a deposit was used; left to the next request',
    );
    return null;
  };
  const outcome = isSpent ? outcomeOfFate(await findUse().catch(logUntold)) : null;
  if (outcome?.state === 'settled') return withBalance(ctx, payment, outcome);
  return outcome ?? refused((reason as RefusalReason | null) ?? 'invalid_exact_evm_transaction_failed');
}

/** The deposit, once it has ended. If its process died, ends it as soon as the chain has it, without waiting for the reconciler. */
async function findEnded(ctx: DepositContext, id: string): Promise<ChainPayment | null> {
  const stored = await findById(ctx.db, id);
  if (stored === null || !isOpen(stored.state)) return stored;
  const isOld = ctx.clock.now().getTime() - stored.createdAt.getTime() > RECORDED_BY_NOW_MS;
  const isSpent = isOld && (await ctx.usdc.isSpent(stored.authorization).catch(() => null));
  if (isSpent) await endSpent(ctx, stored);
  return null;
}

/** A deposit that is in the channel, once the channel's balance was read at a block that has it as deep as the amount asks for. */
async function withBalance(
  ctx: DepositContext,
  { channelId, authorization }: OfChannel,
  settled: Settled,
): Promise<DepositOutcome> {
  const { transactionHash } = settled;
  const depth = depthFor(ctx.confirmations, authorization.valueMicro);
  const look = async () => {
    const mined = await ctx.usdc.findMined([transactionHash]);
    if (mined === null || !(await refreshChannels(ctx, [channelId]))) return null;
    return (await wasReadAt(ctx.db, channelId, mined.blockNumber + depth - 1n)) ? settled : null;
  };
  const answer = await until(look, { timeoutMs: WAIT_MS, firstMs: 50, maxMs: 500 }).catch((error) => {
    ctx.log.warn({ err: error, channelId }, 'cannot read a channel after its deposit; left to the next run');
    return null;
  });
  return answer ?? { state: 'unknown', transactionHash };
}
