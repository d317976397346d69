import { setTimeout as delay } from 'node:timers/promises';
import { LRUCache } from 'lru-cache';
import { until } from '../../../../lib/concurrency/until.ts';
import { DAY_MS } from '../../../../lib/duration.ts';
import { sumOpenPayouts } from '../../../chain-outbox/chain-payment-list-store.ts';
import type { WalletFunds } from '../../../chain-outbox/channel-claims.ts';
import { assetOf, plainId } from '../../../ledger/asset-account.ts';
import { FEES, findLedgerAccount } from '../../../ledger/ledger-store.ts';
import { sumByKind } from '../../../ledger/ledger-total-store.ts';
import { unheldFees } from '../../../ledger/take-fees.ts';
import { sumUnclaimed } from '../../../ledger/withdrawal-hold-store.ts';
import { findChannels } from '../channel-store.ts';
import { isBillCovered } from '../earning-store.ts';
import { releaseEarnings } from '../release-earnings.ts';
import type { ClaimContext } from './claim-context.ts';
import type { ChannelClaimer } from './claimer.ts';

/** Some blocks of Base: a caller waits no longer for a claim. */
const WAIT_MS = 10_000;

/** Between two looks at whether a bill is covered. */
const LOOK_MS = 250;

/** Gas of a claim and sweep of one channel, with room. */
const CLAIM_GAS = 300_000n;

/** Claims of less than `CHANNEL_MIN_CLAIM` that bills of a payer's channels may cause at this process in a day. */
const MAX_SMALL_CLAIMS = 20;
const MAX_PAYERS = 10_000;

/** A bill waits as long for the claim that pays it: some claims before it, each of which may need a higher fee. */
const COVER_WITHIN_MS = 45_000;

/**
 * Claims and sweeps the debts of channels before a payout that needs the money. Nothing is written for the payout before, so a process that
 * dies here leaves an ordinary claim.
 */
export function createWalletFunds(ctx: ClaimContext, claimer: ChannelClaimer): WalletFunds {
  const smallClaims = new LRUCache<string, number>({ max: MAX_PAYERS, ttl: DAY_MS });
  const claim = async () => {
    const claimed = claimer.claim('payout').catch((error) => {
      ctx.log.warn({ err: error }, 'vouchers can not be claimed for a payout');
    });
    await Promise.race([claimed, delay(WAIT_MS, undefined, { ref: false })]);
  };
  return {
    async ensure(amountMicro) {
      if ((await isOwedByChannels(ctx)) && !(await hasFunds(ctx, amountMicro))) await claim();
    },
    async free(ledgerAccountId, amountMicro) {
      if ((await sumUnclaimed(ctx.db, ledgerAccountId)) === 0n) return;
      if ((await freeOf(ctx, ledgerAccountId)) >= amountMicro) return;
      await claim();
      await releaseEarnings(ctx);
    },
    async cover(channelId, billMicro, signal) {
      if (await isBillCovered(ctx.db, channelId, billMicro)) return true;
      if (!(await mayClaimAhead(ctx, smallClaims, channelId))) return false;
      const over = new AbortController();
      let claiming: Promise<void> | null = null;
      const look = async () => {
        if (signal.aborted) return false;
        claiming ??= claimer
          .claimAhead(channelId, over.signal)
          .catch((error) => {
            ctx.log.warn({ err: error, channelId }, 'vouchers can not be claimed for a bill');
          })
          .finally(() => {
            claiming = null;
          });
        // A run goes on as long as others have something to claim: this bill is looked at meanwhile.
        await Promise.race([claiming, delay(LOOK_MS, undefined, { ref: false })]);
        return (await isBillCovered(ctx.db, channelId, billMicro)) ? true : null;
      };
      const covered = until(look, { timeoutMs: COVER_WITHIN_MS, firstMs: 100, maxMs: 2000 });
      return (await covered.finally(() => over.abort())) ?? false;
    },
  };
}

/**
 * True if the node may claim a channel for a bill: it has gas within the operator's cap, and the claim is worth its gas or is one of few
 * small ones of the payer. The limit exists because the bill need not be collected: an owner of both the channel and the agent would get
 * these claims for free.
 */
async function mayClaimAhead(
  ctx: ClaimContext,
  smallClaims: LRUCache<string, number>,
  channelId: string,
): Promise<boolean> {
  const hasGas = await ctx.gas.requireGas(CLAIM_GAS, 'No gas for a claim.').then(
    () => true,
    () => false,
  );
  const channel = hasGas ? (await findChannels(ctx.db, [channelId])).get(channelId) : undefined;
  if (!channel) return false;
  const owedMicro = channel.chargedMicro + channel.reservedMicro - channel.claimedMicro;
  if (owedMicro >= ctx.channelClaimSettings.minMicro) return true;
  const before = smallClaims.get(channel.payer) ?? 0;
  if (before >= MAX_SMALL_CLAIMS) return false;
  smallClaims.set(channel.payer, before + 1, { noUpdateTTL: true });
  return true;
}

async function freeOf({ db }: ClaimContext, ledgerAccountId: string): Promise<bigint> {
  if (plainId(ledgerAccountId) === FEES) return unheldFees(db, assetOf(ledgerAccountId));
  const account = await findLedgerAccount(db, ledgerAccountId);
  return account ? account.postedMicro - account.heldMicro : 0n;
}

async function hasFunds(ctx: ClaimContext, amountMicro: bigint): Promise<boolean> {
  const [holds, leaving] = [await ctx.usdc.balanceOf(ctx.chain.wallet), await sumOpenPayouts(ctx.db, ctx.chain)];
  return holds - leaving >= amountMicro;
}

async function isOwedByChannels({ db, chain }: ClaimContext): Promise<boolean> {
  const sums = await sumByKind(db, chain.ledgerAsset);
  return (sums.get('vouchers') ?? 0n) < 0n || (sums.get('claimed') ?? 0n) < 0n;
}
