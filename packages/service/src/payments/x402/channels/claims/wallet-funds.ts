import { setTimeout as delay } from 'node:timers/promises';
import { until } from '../../../../lib/concurrency/until.ts';
import { FEES, findLedgerAccount } from '../../../ledger/ledger-store.ts';
import { sumByKind } from '../../../ledger/ledger-total-store.ts';
import { unheldFees } from '../../../ledger/take-fees.ts';
import { sumUnclaimed } from '../../../ledger/unclaimed-earnings-store.ts';
import type { WalletFunds } from '../../../onchain/channel-claims.ts';
import { sumOpenPayouts } from '../../../onchain/open-payout-store.ts';
import { isBillCovered } from '../earning-store.ts';
import { releaseEarnings } from '../release-earnings.ts';
import type { ClaimContext } from './claim-context.ts';
import type { ChannelClaimer } from './claimer.ts';

/** Some blocks of Base: a caller waits no longer for a claim. */
const WAIT_MS = 10_000;

/** A bill waits as long for the claim that pays it: some claims before it, each of which may need a higher fee. */
const COVER_WITHIN_MS = 45_000;

/**
 * Claims and sweeps what channels owe before money leaves on the strength of it. Nothing is written for the payout before, so a process that
 * dies here leaves a claim as any other.
 */
export function createWalletFunds(ctx: ClaimContext, claimer: ChannelClaimer): WalletFunds {
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
      const look = async () => {
        if (signal.aborted) return false;
        if (await isBillCovered(ctx.db, channelId, billMicro)) return true;
        await claimer.claimAhead(channelId).catch((error) => {
          ctx.log.warn({ err: error, channelId }, 'vouchers can not be claimed for a bill');
        });
        return (await isBillCovered(ctx.db, channelId, billMicro)) ? true : null;
      };
      return (await until(look, { timeoutMs: COVER_WITHIN_MS, firstMs: 100, mostMs: 2000 })) ?? false;
    },
  };
}

async function freeOf({ db }: ClaimContext, ledgerAccountId: string): Promise<bigint> {
  if (ledgerAccountId === FEES) return unheldFees(db);
  const account = await findLedgerAccount(db, ledgerAccountId);
  return account ? account.postedMicro - account.heldMicro : 0n;
}

async function hasFunds(ctx: ClaimContext, amountMicro: bigint): Promise<boolean> {
  const [holds, leaving] = [
    await ctx.usdc.balanceOf(ctx.chain.wallet),
    await sumOpenPayouts(ctx.db, ctx.chain.chainId),
  ];
  return holds - leaving >= amountMicro;
}

async function isOwedByChannels({ db }: ClaimContext): Promise<boolean> {
  const sums = await sumByKind(db);
  return (sums.get('vouchers') ?? 0n) < 0n || (sums.get('claimed') ?? 0n) < 0n;
}
