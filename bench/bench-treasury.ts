import { fundWallets } from '@agent-network/chain/chain-funding';
import { createClient, createPayer } from '@agent-network/sdk';
import { type BenchContext, echoed, type Figure, figureOf, invokeRequest } from './bench-context.ts';
import type { LoadResult } from './load-jobs.ts';
import { runRounds } from './rounds.ts';

const DEPOSIT_USDC = '10000';
/** Until the code that a call takes is compiled. */
const WARM_UP_SECONDS = 5;

/** (c) A synchronous call paid from a treasury: held, run by an agent over HTTP, captured and recorded, all of it durable. */
export async function benchTreasury(ctx: BenchContext): Promise<Figure[]> {
  await fillTreasury(ctx);
  const request = invokeRequest(ctx, { 'x-sync': 'true', 'x-payment-method': 'treasury' });
  const questions = [{ request, status: 200, includes: echoed }];
  const jobOf = (callers: number, seconds: number) => ({ kind: 'plain', callers, seconds, questions }) as const;
  await ctx.load.run(jobOf(64, WARM_UP_SECONDS));
  const figures: Figure[] = [];
  for (const callers of [1, 16, 64, 256]) {
    const [ours] = await runRounds(ctx.load, ctx.rounds, [{ name: 'ours', job: jobOf(callers, ctx.seconds) }]);
    if (ours) figures.push({ ...figureOf('c', 'treasury-paid sync call', callers, ours), ...aimOf(callers, ours) });
  }
  return figures;
}

function aimOf(callers: number, { perSecond, p50Ms }: LoadResult): Pick<Figure, 'aim'> {
  if (callers === 16)
    return { aim: { text: 'at least 1,000/s, p50 under 15 ms', isReached: perSecond >= 1000 && p50Ms < 15 } };
  return callers === 256 ? { aim: { text: 'at least 2,000/s', isReached: perSecond >= 2000 } } : {};
}

/** Buys the treasury's money as any client does: with an x402 payment. */
export async function fillTreasury({ service }: Pick<BenchContext, 'service'>): Promise<void> {
  const { baseUrl, apiKey, chain, wallets } = service.local;
  const [wallet] = wallets;
  if (!wallet) throw new Error('the node has no funded wallet');
  await fundWallets(chain.rpcUrl, chain.usdc, [{ address: wallet.address, ethWei: 0n, usdcMicro: 20_000_000_000n }]);
  const payer = createPayer({ privateKey: wallet.privateKey, maxPerCall: DEPOSIT_USDC });
  const client = createClient({ baseUrl, apiKey, payer });
  const { treasuryId } = await client.createTreasury();
  await client.depositToTreasury({ body: { amount: DEPOSIT_USDC, treasuryId } });
}
