import { setTimeout as delay } from 'node:timers/promises';
import { sumByKind } from '../../../ledger/ledger-total-store.ts';
import type { WalletFunds } from '../../../onchain/channel-claims.ts';
import { sumOpenPayouts } from '../../../onchain/open-payout-store.ts';
import type { ClaimContext } from './claim-context.ts';
import type { ChannelClaimer } from './claimer.ts';

/** Some blocks of Base: a caller waits no longer for a claim. */
const WAIT_MS = 10_000;

/**
 * Claims and sweeps what channels owe when the wallet needs it for a payout. Nothing is written for the payout before,
 * so a process that dies here leaves a claim as any other.
 */
export function createWalletFunds(ctx: ClaimContext, claimer: ChannelClaimer): WalletFunds {
  return {
    async ensure(amountMicro) {
      if (!(await isOwedByChannels(ctx)) || (await hasFunds(ctx, amountMicro))) return;
      const claimed = claimer.claim('payout').catch((error) => {
        ctx.log.warn({ err: error }, 'vouchers can not be claimed for a payout');
      });
      await Promise.race([claimed, delay(WAIT_MS, undefined, { ref: false })]);
    },
  };
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
