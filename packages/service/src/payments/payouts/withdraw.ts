import type { Withdrawal } from '@agent-network/contracts/payments/payments';
import type { AccountCaller, KnownCaller } from '../../accounts/caller.ts';
import { findByIdempotencyKey, type Once, unkeyed } from '../../accounts/idempotency/once.ts';
import type { WithdrawalTerms } from '../../accounts/proofs/wallet-challenge.ts';
import { authorizationDigest } from '../../chain/keys/authorization.ts';
import type { NodeKeys } from '../../chain/keys/node-keys.ts';
import { payoutNonce } from '../../chain/keys/payment-nonces.ts';
import { gasOfCall } from '../../chain/settlement-call.ts';
import { AppError, invalid, notFound } from '../../lib/app-error.ts';
import { until } from '../../lib/concurrency/until.ts';
import { DAY_MS } from '../../lib/duration.ts';
import { newId } from '../../lib/id.ts';
import { invariant } from '../../lib/invariant.ts';
import { failpoint } from '../../lib/process/failpoint.ts';
import type { Secrets } from '../../lib/secrets.ts';
import type { Store } from '../../store/database.ts';
import type { Sql, Tx } from '../../store/sql.ts';
import type { ChainContext } from '../chain-outbox/chain-context.ts';
import type { ChainPayment, NewChainPayment } from '../chain-outbox/chain-payment.ts';
import { findByNames, findBySubject, insertChainPayments } from '../chain-outbox/chain-payment-store.ts';
import { findHeld } from '../chain-outbox/held-payout-store.ts';
import { toWithdrawal } from '../chain-outbox/payment-events.ts';
import { cannotSettle } from '../chain-outbox/settlement-halt.ts';
import { assetOf, inAssetOf } from '../ledger/asset-account.ts';
import {
  FEES,
  type LedgerAccount,
  lockFees,
  lockLedgerAccount,
  OUTGOING,
  postTransfers,
} from '../ledger/ledger-store.ts';
import { takeFees } from '../ledger/take-fees.ts';
import { requireTreasury, requireUnfrozen } from '../ledger/treasury.ts';
import type { ChannelServices } from '../schemes/batch-settlement/channel-services.ts';
import type { PaymentChecks } from '../schemes/exact/payment-checks.ts';
import { refusalOfNode } from '../settlement/payment-simulator.ts';
import { sendAfterCommit } from '../settlement/send-payouts.ts';
import { PAYOUT_WINDOW_S } from '../settlement/sign-payout.ts';
import { whyWithdrawalsWait } from './catch-up-store.ts';
import { holdForWithdrawal, releaseWithdrawal, requireAvailable } from './hold-withdrawal.ts';
import { findNthWithdrawal, lockWithdrawals } from './refund-store.ts';
import type { TreasuryOwners } from './treasury-owners.ts';
import { onNetworkOf, type WithdrawalApproval, type WithdrawInput, withdrawalTerms } from './withdrawal-terms.ts';

type WithdrawContext = ChainContext &
  PaymentChecks &
  ChannelServices &
  Pick<NodeKeys, 'secrets'> & { readonly treasuryOwners: TreasuryOwners };

const NO_GAS = 'The node cannot send anything now: its keys lack gas (ETH). Nothing was withdrawn.';
/** Maximum time that a request waits for the chain before it answers `pending`. */
const WAIT_MS = 2000;

/**
 * Sends USDC from a treasury of the account to a wallet, if the approval (null: none required) allows it. The amount is held before the
 * chain is queried; if the process dies then, nothing was signed, and the hold expires soon. Debit and signed transfer are committed
 * together. From then on the money leaves exactly once, whatever happens to this process or the chain's answers: it is sent right after the
 * commit, and the reconciler makes sure that it arrives. Throws INSUFFICIENT_FUNDS or, out of an agent's treasury, INSUFFICIENT_BALANCE
 * when less is available, CONFLICT for a frozen treasury, and UNAVAILABLE when the node could not send it.
 */
export async function withdraw(
  anyCtx: WithdrawContext,
  caller: AccountCaller,
  input: WithdrawInput,
  { once = unkeyed, approval = null }: { once?: Once; approval?: WithdrawalApproval | null } = {},
): Promise<Withdrawal> {
  const ctx = onNetworkOf(anyCtx, input);
  const find = (id: string) => findBySubject(ctx.db, id, 'withdrawal');
  const { made, id: withdrawalId, ids } = await findByIdempotencyKey(ctx, once, 'wdr', find);
  if (made) return waitBriefly(ctx, made.subjectId);
  const { terms, treasury } = await withdrawalTerms(ctx, caller, input);
  await approval?.judge(terms);
  await requireFewWithdrawals(ctx, ctx.db, caller.accountId);
  const { amountMicro, to, from } = terms;
  const id = withdrawalId ?? newId('wdr');
  const payment = await signPayout(ctx, { id, accountId: caller.accountId, treasury, to, amountMicro, from });
  const foundOnChain = await findOwn(ctx, payment, { ids, source: sourceName(treasury, from) });
  if (foundOnChain) return waitBriefly(ctx, foundOnChain.subjectId);
  await ctx.walletFunds.free(sourceName(treasury, from), amountMicro);
  await hold(ctx, payment, from);
  try {
    await ctx.gas.requireGas(gasOfCall([payment]), NO_GAS);
    await ctx.walletFunds.ensure(amountMicro);
    await requireTransferable(ctx, payment);
    if (treasury.agentId !== null) await ctx.treasuryOwners.require(treasury.agentId);
    await commit(ctx, payment, from, approval);
  } catch (error) {
    await ctx.db.transaction((tx) => releaseWithdrawal(tx, id, ctx.clock.now()));
    throw error;
  }
  return waitBriefly(ctx, payment.subjectId);
}

/** A withdrawal under the same key that a restored database had lost, and that was booked again from the chain; null: none. */
async function findOwn(
  ctx: WithdrawContext,
  { accountId, chainId, token, authorization }: NewChainPayment,
  { ids, source }: { readonly ids: readonly string[]; readonly source: string },
) {
  const name = { chainId, token, from: authorization.from, subjectId: null, purpose: 'withdrawal' } as const;
  const nonces = ids.flatMap((id) => withdrawalNonces(ctx.secrets, chainId, { id, source }));
  if (nonces.length === 0) return null;
  const found = await findByNames(
    ctx.db,
    nonces.map((nonce) => ({ ...name, nonce })),
  );
  return found.find((each) => each?.accountId === accountId) ?? null;
}

/** Throws RATE_LIMITED if the account has begun as many withdrawals as a day allows, `own` of them not counted. */
async function requireFewWithdrawals(
  { clock, paymentLimits }: WithdrawContext,
  sql: Sql,
  accountId: string,
  own = 0,
): Promise<void> {
  const limit = paymentLimits.withdrawalsPerDay;
  const nowMs = clock.now().getTime();
  const atLimit =
    limit === 0 ? clock.now() : await findNthWithdrawal(sql, accountId, new Date(nowMs - DAY_MS), limit + own);
  if (atLimit === null) return;
  const retryAfterS = Math.ceil((atLimit.getTime() + DAY_MS - nowMs) / 1000);
  const message = `An account makes at most ${limit} withdrawals in 24 hours. Repeat this one after Retry-After.`;
  throw new AppError('RATE_LIMITED', message, {
    details: { limit, type: 'withdrawals', retryAfterS: Math.max(1, retryAfterS) },
  });
}

/**
 * Places the hold before the chain is queried: of concurrent withdrawals, those that the ledger cannot cover are refused for lack of funds
 * and do not take part in the others' simulation.
 */
async function hold(ctx: WithdrawContext, payment: NewChainPayment, from: WithdrawalTerms['from']): Promise<void> {
  const now = ctx.clock.now();
  const { subjectId: id, authorization } = payment;
  await ctx.db.transaction(async (tx) => {
    // The fees are locked first, as in `takeFees`, so that withdrawals cannot deadlock.
    if (from === 'fees') await lockFees(tx, assetOf(payment.ledgerAccountId));
    const treasury = await lockTreasury(tx, payment, from);
    await holdForWithdrawal(tx, { id, from, treasury, amountMicro: authorization.valueMicro, now });
    failpoint('before-withdrawal-hold-commit');
  });
  failpoint('after-withdrawal-hold-commit');
}

async function lockTreasury(
  tx: Tx,
  { ledgerAccountId, accountId, chainId, token }: NewChainPayment,
  from: WithdrawalTerms['from'],
): Promise<LedgerAccount> {
  const treasury = await lockLedgerAccount(tx, ledgerAccountId);
  if (treasury?.accountId !== accountId) throw notFound('treasury');
  requireUnfrozen(treasury);
  const why = await whyWithdrawalsWait(tx, { chainId, token, source: sourceName(treasury, from) });
  if (why !== null) throw new AppError('UNAVAILABLE', `${waiting[why]} Nothing was withdrawn.`, {});
  return treasury;
}

const waiting = {
  reading: 'The node was restored, and reads from the chain what has happened since.',
  undecided: 'The node was restored, and its operator has to decide about payments that it made before.',
};

/** The ledger account that a withdrawal is paid from. */
const sourceName = ({ id }: LedgerAccount, from: WithdrawalTerms['from']): string =>
  from === 'fees' ? inAssetOf(id, FEES) : id;

async function signPayout(
  ctx: WithdrawContext,
  {
    id,
    accountId,
    treasury,
    to,
    amountMicro,
    from,
  }: Pick<WithdrawalTerms, 'to' | 'amountMicro' | 'from'> & { id: string; accountId: string; treasury: LedgerAccount },
): Promise<NewChainPayment & { readonly accountId: string }> {
  const { chain, wallet } = ctx;
  const [nonce = ''] = withdrawalNonces(ctx.secrets, chain.chainId, { id, source: sourceName(treasury, from) });
  const authorization = {
    from: wallet.address,
    to,
    valueMicro: amountMicro,
    validAfterS: 0n,
    validBeforeS: BigInt(Math.floor(ctx.clock.now().getTime() / 1000)) + PAYOUT_WINDOW_S,
    nonce,
  };
  return {
    id: newId('pay'),
    chainId: chain.chainId,
    token: chain.token,
    direction: 'out',
    purpose: 'withdrawal',
    subjectId: id,
    accountId,
    ledgerAccountId: treasury.id,
    authorization,
    signature: await wallet.signHash(authorizationDigest(chain.domainSeparator, authorization)),
    fingerprint: null,
    x402Version: null,
  };
}

/** Simulates the transfer first: one that the token refuses would leave the treasury and never arrive. */
async function requireTransferable(ctx: WithdrawContext, payment: NewChainPayment): Promise<void> {
  const unavailable = (cause: unknown) =>
    new AppError('UNAVAILABLE', 'The node cannot pay on chain now. Nothing was withdrawn.', {}, { cause });
  const refused = await ctx.simulator.simulate(payment).catch((cause) => {
    throw unavailable(cause);
  });
  if (refused === null) return;
  if (/exceeds balance/i.test(refused)) throw unavailable(new Error(`the wallet of the node: ${refused}`));
  const ofNode = await refusalOfNode(ctx, payment, refused).catch((cause) => {
    throw unavailable(cause);
  });
  if (ofNode !== null) throw cannotSettle(ofNode);
  throw invalid('to', `is refused by the token ("${refused}")`);
}

async function commit(
  ctx: WithdrawContext,
  payment: NewChainPayment & { readonly accountId: string },
  from: WithdrawalTerms['from'],
  approval: WithdrawalApproval | null,
): Promise<void> {
  const now = ctx.clock.now();
  const { accountId, authorization } = payment;
  const amountMicro = authorization.valueMicro;
  await ctx.db.transaction(async (tx) => {
    const { subjectId, ledgerAccountId } = payment;
    await lockWithdrawals(tx, accountId);
    await releaseWithdrawal(tx, subjectId, now);
    // A concurrent repetition of this call may have inserted it.
    if ((await insertChainPayments(tx, [payment], now)).size === 0) return;
    // Others may have begun since this one was counted.
    await requireFewWithdrawals(ctx, tx, accountId, 1);
    await approval?.use(tx);
    if (from === 'fees') await takeFees(tx, { withdrawalId: subjectId, treasuryId: ledgerAccountId, amountMicro, now });
    const treasury = await lockTreasury(tx, payment, from);
    requireAvailable(treasury, treasury.postedMicro - treasury.heldMicro, amountMicro);
    const id = `withdrawal:${subjectId}`;
    await postTransfers(
      tx,
      [
        {
          id,
          debit: treasury.id,
          credit: inAssetOf(treasury.id, OUTGOING),
          amountMicro,
          kind: 'withdrawal',
          subjectId,
        },
      ],
      now,
    );
    sendAfterCommit(tx, payment.id);
    failpoint('before-withdrawal-commit');
  });
  failpoint('after-withdrawal-commit');
}

async function waitBriefly(ctx: Store, withdrawalId: string): Promise<Withdrawal> {
  const read = () => findBySubject(ctx.db, withdrawalId, 'withdrawal');
  const isEnded = (state: string | undefined) => state === 'settled' || state === 'failed';
  const ended = await until(
    async () => {
      const payment = await read();
      return isEnded(payment?.state) ? payment : null;
    },
    { timeoutMs: WAIT_MS, firstMs: 10, maxMs: 200 },
  );
  const payment = ended ?? (await read());
  invariant(payment !== null, 'a withdrawal that was committed is there');
  return shownWithdrawal(ctx, payment);
}

/** A withdrawal of the caller's: of its account for a key, of its own treasury for an agent. Others' are NOT_FOUND. */
export async function readWithdrawal(ctx: Store, caller: KnownCaller, withdrawalId: string): Promise<Withdrawal> {
  const payment = await findBySubject(ctx.db, withdrawalId, 'withdrawal');
  if (payment?.accountId !== caller.accountId) throw notFound('withdrawal');
  if (caller.kind === 'agent') await requireTreasury(ctx, caller, payment.ledgerAccountId);
  return shownWithdrawal(ctx, payment);
}

const shownWithdrawal = async (ctx: Store, payment: ChainPayment): Promise<Withdrawal> =>
  toWithdrawal(payment, (await findHeld(ctx.db, payment.id))?.hold ?? null);

const SUBJECT_BYTES = 14;
const MARK_BYTES = 4;
const SOURCE_BYTES = 14;

/**
 * Nonces of a withdrawal's authorization, one for each secret and that of the newest first, deterministic for withdrawal and source. They
 * encode the ledger account that paid, readable by this node only: if the database loses the withdrawal, the transfer on chain still
 * identifies the account to charge.
 */
export function withdrawalNonces(
  secrets: Secrets,
  chainId: number,
  { id, source }: { id: string; source: string },
): string[] {
  const subject = payoutNonce(chainId, 'withdrawal', id).slice(2, 2 + 2 * SUBJECT_BYTES);
  const codes = sourceCodes(secrets, subject, source);
  return marksOf(secrets, subject).map((mark, nth) => `0x${subject}${mark}${codes[nth]}`);
}

/** Finds the ledger account that paid for the withdrawal with this nonce; null: it is none of these. */
export function sourceOf(secrets: Secrets, nonce: string, accounts: readonly string[]): string | null {
  const [subject, code] = [nonce.slice(2, 2 + 2 * SUBJECT_BYTES), nonce.slice(-2 * SOURCE_BYTES)];
  return accounts.find((account) => sourceCodes(secrets, subject, account).includes(code)) ?? null;
}

/** True for the nonce of a withdrawal of this node. */
export function isOfWithdrawal(secrets: Secrets, nonce: string): boolean {
  const subject = nonce.slice(2, 2 + 2 * SUBJECT_BYTES);
  return marksOf(secrets, subject).includes(nonce.slice(2 + 2 * SUBJECT_BYTES, -2 * SOURCE_BYTES));
}

const marksOf = (secrets: Secrets, subject: string): string[] =>
  codesOf(secrets, 'withdrawal-nonce', [subject], MARK_BYTES);

const sourceCodes = (secrets: Secrets, subject: string, source: string): string[] =>
  codesOf(secrets, 'withdrawal-source', [subject, source], SOURCE_BYTES);

/** Truncated codes, that of the newest secret first. */
const codesOf = (secrets: Secrets, purpose: string, parts: readonly string[], bytes: number): string[] =>
  secrets.codesOf(purpose, parts).map((code) => Buffer.from(code, 'base64url').subarray(0, bytes).toString('hex'));
