import { fundWallets } from '@agent-network/chain/chain-funding';
import { createClient, createPayer } from '@agent-network/sdk';
import { type BenchContext, echoed, type Figure, figureOf, invokeRequest } from './bench-context.ts';
import { runRounds } from './rounds.ts';

const DEPOSIT_USDC = '10000';

/** (c) A synchronous call paid from a treasury: held, run by an agent over HTTP, captured and recorded, all of it durable. */
export async function benchTreasury(ctx: BenchContext): Promise<Figure[]> {
  await fillTreasury(ctx);
  const request = invokeRequest(ctx, { 'x-sync': 'true', 'x-payment-method': 'treasury' });
  const figures: Figure[] = [];
  for (const callers of [1, 16, 64]) {
    const questions = [{ request, status: 200, includes: echoed }];
    const job = { kind: 'plain', callers, seconds: ctx.seconds, questions } as const;
    const [ours] = await runRounds(ctx.load, ctx.rounds, [{ name: 'ours', job }]);
    if (!ours) continue;
    const isReached = ours.perSecond >= 1000 && ours.p50Ms < 15;
    const aim = callers === 16 ? { aim: { text: 'at least 1,000/s, p50 under 15 ms', isReached } } : {};
    figures.push({ ...figureOf('c', 'treasury-paid sync call', callers, ours), ...aim });
  }
  return figures;
}

/** Buys the treasury's money as any client does: with an x402 payment. */
export async function fillTreasury({ service }: BenchContext): Promise<void> {
  const { baseUrl, apiKey, chain, wallets } = service.local;
  const [wallet] = wallets;
  if (!wallet) throw new Error('the node has no funded wallet');
  await fundWallets(chain.rpcUrl, chain.usdc, [{ address: wallet.address, ethWei: 0n, usdcMicro: 20_000_000_000n }]);
  const payer = createPayer({ privateKey: wallet.privateKey, maxPerCall: DEPOSIT_USDC });
  const client = createClient({ baseUrl, apiKey, payer });
  const { treasuryId } = await client.createTreasury();
  await client.depositToTreasury({ body: { amount: DEPOSIT_USDC, treasuryId } });
}
