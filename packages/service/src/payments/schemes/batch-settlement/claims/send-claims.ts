import type { Hex } from 'viem';
import { withDataGas } from '../../../../chain/chain-fees.ts';
import { allOf, claimCall, SETTLEMENT_CONTRACT, sweepCall } from '../../../../chain/channels/channel-calls.ts';
import { channelDigestsOf } from '../../../../chain/channels/channel-digests.ts';
import type { Lease } from '../../../../chain/keys/signer.ts';
import { MAX_TRANSACTION_GAS } from '../../../../chain/settlement-call.ts';
import { newId } from '../../../../lib/id.ts';
import { failpoint } from '../../../../lib/process/failpoint.ts';
import type { Sql, Tx } from '../../../../store/sql.ts';
import { type ChainCall, type OpenTransaction, openTransaction } from '../../../chain-outbox/open-transaction.ts';
import { beginBooks } from './book-claims.ts';
import { lockReceiver, sumUnswept } from './booking-store.ts';
import type { ClaimContext } from './claim-context.ts';
import { type ClaimMode, type ClaimReason, type PlannedClaim, planClaim } from './claim-plan.ts';
import { insertClaim, listUnclaimed } from './claim-store.ts';

/** Gas of a claim: about 85,000 for the transaction and the sweep, and 22,000 a channel, more behind the proxy of USDC. */
const GAS_BASE = 250_000n;
const GAS_OF_ROW = 60_000n;
/** A batch that is refused is halved until the bad row is found. */
const MAX_ROWS = 200;

/** End time of the pause of each channel with a claim that the contract refuses. The pause limits reports, and other channels go on. */
export type RefusedClaims = Map<string, number>;
const REFUSED_FOR_MS = 600_000;

/**
 * Takes the due claims, a free key and its next nonce, and stores the signed transaction that claims and sweeps, in one commit: if the
 * process dies, another continues from it. With nothing to claim, it sweeps the rest of earlier claims from the contract. Null when nothing
 * is due, no free key can pay the gas, or another process was faster.
 */
export async function writeAheadClaims(
  ctx: ClaimContext,
  mode: ClaimMode,
  { lease, refused, ahead }: { lease: Lease; refused: RefusedClaims; ahead: readonly string[] },
): Promise<OpenTransaction | null> {
  const planned = (await planClaims(ctx, mode, { refused, ahead })) ?? (await planSweep(ctx, mode));
  if (planned === null) return null;
  const { reason, rows } = planned;
  const call = await withDataGas(ctx, planned.call);
  const fees = await ctx.fees.current();
  const costWei = call.gas * fees.maxFeePerGas;
  const signers = ctx.gas.fundedSenders(costWei);
  const record = async (tx: Tx, transactionHash: string) => {
    const claim = {
      id: newId('clm'),
      asset: ctx.chain,
      reason,
      transactionHash,
      rows: rows.map(({ channelId, voucher, totalMicro }) => ({ channelId, maxMicro: voucher.maxMicro, totalMicro })),
    };
    if (rows.length === 0 && !(await mayStillSweep(ctx, tx))) throw new AlreadyClaimedError();
    if (!(await insertClaim(tx, claim, ctx.clock.now()))) throw new AlreadyClaimedError();
  };
  const beforeCommit = () => failpoint('before-channel-claim-commit');
  const written = await openTransaction(ctx, { signers, call, fees, lease, record, beforeCommit }).catch((error) => {
    if (error instanceof AlreadyClaimedError) return null;
    throw error;
  });
  failpoint('after-channel-claim-commit');
  if (written) ctx.gas.spend(written.signer, costWei);
  return written;
}

/** Another process claims one of the channels, or sweeps: nothing is written. */
class AlreadyClaimedError extends Error {}

/** A transaction to send: the claims that it makes, none for a sweep alone. */
interface Planned {
  readonly reason: ClaimReason;
  readonly rows: readonly PlannedClaim[];
  readonly call: ChainCall;
}

async function planClaims(
  ctx: ClaimContext,
  mode: ClaimMode,
  { refused, ahead }: { refused: RefusedClaims; ahead: readonly string[] },
): Promise<Planned | null> {
  const due = await onChainNow(ctx, await findDue(ctx, mode, { refused, ahead }));
  const toCall = due.length > 0 && (await canSweep(ctx)) ? claimsAndSweep : claimsAlone;
  const rows = await thatPass(ctx, due, { refused, toCall });
  const [first] = rows;
  if (first === undefined || (await beginBooks(ctx)) === null) return null;
  return { reason: first.reason, rows, call: await toCall(ctx, rows) };
}

/** A claim that was made while the token refused the wallet leaves its money in the contract. It is swept when the token takes it again. */
async function planSweep(ctx: ClaimContext, mode: ClaimMode): Promise<Planned | null> {
  if (!(await isLeftToSweep(ctx, ctx.db)) || !(await canSweep(ctx))) return null;
  // The books may be behind the contract: what somebody has swept already is not swept for its gas.
  const { claimedMicro, sweptMicro } = await ctx.settlementContract.receiverTotals(null);
  if (claimedMicro === sweptMicro) return null;
  const data = sweepCall(ctx.chain.wallet, ctx.chain.token);
  if ((await ctx.claimSimulator.simulate(data)) !== null) return null;
  return { reason: mode === 'due' ? 'age' : mode, rows: [], call: { to: SETTLEMENT_CONTRACT, data, gas: GAS_BASE } };
}

/** True if the contract owes the wallet more than a sweep is worth, by the books, and no transaction is open that may bring it. */
async function isLeftToSweep({ chain, channelClaimSettings }: ClaimContext, sql: Sql): Promise<boolean> {
  const unsweptMicro = await sumUnswept(sql, chain);
  return unsweptMicro > 0n && unsweptMicro >= channelClaimSettings.minMicro;
}

/** Checks for money to sweep under the receiver's lock, so after other sweeps and bookings have ended. */
async function mayStillSweep(ctx: ClaimContext, tx: Tx): Promise<boolean> {
  await lockReceiver(tx, ctx.chain);
  return isLeftToSweep(ctx, tx);
}

/** The claims to make now, the most urgent first: all that are listed are due, however many channels owe too little or can not be claimed yet. */
async function findDue(
  ctx: ClaimContext,
  mode: ClaimMode,
  { refused, ahead }: { refused: RefusedClaims; ahead: readonly string[] },
): Promise<PlannedClaim[]> {
  const { channelClaimSettings: rules, chain, clock } = ctx;
  const now = clock.now();
  const minMicro = rules.minMicro > 1n ? rules.minMicro : 1n;
  const isRefused = ([, untilMs]: readonly [string, number]) => untilMs > performance.now();
  const limit = await roomOf(ctx);
  if (limit === 0) return [];
  const channels = await listUnclaimed(ctx.db, {
    chainId: chain.chainId,
    token: chain.token,
    wallet: chain.wallet,
    minMicro,
    thresholdMicro: rules.thresholdMicro > minMicro ? rules.thresholdMicro : minMicro,
    chargedBefore: mode === 'due' ? new Date(now.getTime() - rules.intervalMs) : null,
    now,
    refused: [...refused].filter(isRefused).map(([channelId]) => channelId),
    ahead,
    limit,
  });
  return channels.flatMap((channel) => planClaim(channel, mode, rules, now) ?? []);
}

/** Rows of the largest claim that a key can pay for. */
async function roomOf(ctx: ClaimContext): Promise<number> {
  const maxGas = (await ctx.gas.maxGas()) ?? MAX_TRANSACTION_GAS;
  return Math.max(0, Math.min(Number((maxGas - GAS_BASE) / GAS_OF_ROW), MAX_ROWS));
}

/** The claims as far as the chain's latest state allows: a row above the balance would revert all of them. */
async function onChainNow(ctx: ClaimContext, planned: readonly PlannedClaim[]): Promise<PlannedClaim[]> {
  if (planned.length === 0) return [];
  const states = await ctx.settlementContract.readChannels(
    planned.map(({ channelId }) => channelId),
    null,
  );
  return planned.flatMap((claim, index) => {
    const { balanceMicro = 0n, claimedMicro = 0n } = states[index] ?? {};
    const totalMicro = claim.totalMicro < balanceMicro ? claim.totalMicro : balanceMicro;
    return totalMicro > claimedMicro ? [{ ...claim, totalMicro }] : [];
  });
}

/** The claims that the contract accepts together, found by trying halves. */
async function thatPass(
  ctx: ClaimContext,
  rows: readonly PlannedClaim[],
  how: { readonly refused: RefusedClaims; readonly toCall: ToCall },
): Promise<readonly PlannedClaim[]> {
  const { refused, toCall } = how;
  const [first] = rows;
  if (first === undefined) return [];
  const reason = await ctx.claimSimulator.simulate((await toCall(ctx, rows)).data);
  if (reason === null) return rows;
  if (rows.length === 1) {
    refused.set(first.channelId, performance.now() + REFUSED_FOR_MS);
    ctx.metrics.channelClaims.inc({ outcome: 'refused' });
    ctx.log.error({ channelId: first.channelId, reason }, 'contract refuses the claim of a channel');
    return [];
  }
  const half = Math.ceil(rows.length / 2);
  const parts = [await thatPass(ctx, rows.slice(0, half), how), await thatPass(ctx, rows.slice(half), how)];
  return parts.flat();
}

/**
 * False while the token refuses the wallet. A claim moves no token, and protects the charges from the payer's withdrawal: it is made alone
 * then, and swept later.
 */
async function canSweep({ settlementHalt }: ClaimContext): Promise<boolean> {
  await settlementHalt.refresh();
  return settlementHalt.reason() === null;
}

type ToCall = (ctx: ClaimContext, rows: readonly PlannedClaim[]) => Promise<ChainCall>;

/** One transaction that claims all rows, by the authorizer's signature, and sweeps the claimed amount into the wallet. */
const claimsAndSweep: ToCall = (ctx, rows) => claimsCall(ctx, rows, [sweepCall(ctx.chain.wallet, ctx.chain.token)]);

const claimsAlone: ToCall = (ctx, rows) => claimsCall(ctx, rows, []);

async function claimsCall(
  { chain, wallet }: ClaimContext,
  rows: readonly PlannedClaim[],
  further: readonly Hex[],
): Promise<ChainCall> {
  const entries = rows.map(({ channelId, config, voucher, totalMicro }) => ({
    channelId,
    config,
    ...voucher,
    totalMicro,
  }));
  const signature = await wallet.signHash(channelDigestsOf(chain.chainId).claimBatchDigest(entries));
  const data = allOf([claimCall(entries, signature), ...further]);
  return { to: SETTLEMENT_CONTRACT, data, gas: GAS_BASE + BigInt(rows.length) * GAS_OF_ROW };
}
