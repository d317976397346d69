import { fundWallets } from '@agent-network/chain/chain-funding';
import { generatePrivateKey, privateKeyToAddress } from 'viem/accounts';
import {
  type BenchContext,
  echoed,
  type Figure,
  figureOf,
  invokeRequest,
  peerOf,
  peerRequest,
} from './bench-context.ts';
import type { LoadJob } from './load-jobs.ts';
import { installPeers, startPeer } from './peers.ts';
import { runRounds } from './rounds.ts';

const PAYERS = 16;
const AIM = 3;

/** (b) A whole paid call: unpaid, 402, paid and settled on chain, answered with the result. */
export async function benchPaid(ctx: BenchContext): Promise<Figure[]> {
  installPeers();
  const { chain } = ctx.service.local;
  const peer = await startPeer(ctx.stops, 'express', ctx.service.local);
  const payerKeys = Array.from({ length: PAYERS }, generatePrivateKey);
  const usdcMicro = 100_000_000_000n;
  await fundWallets(
    chain.rpcUrl,
    chain.usdc,
    payerKeys.map((key) => ({ address: privateKeyToAddress(key), ethWei: 0n, usdcMicro })),
  );
  const figures: Figure[] = [];
  for (const callers of [1, 16, 64]) {
    const jobOf = (request: ReturnType<typeof peerRequest>): LoadJob => ({
      kind: 'paid',
      callers,
      seconds: ctx.seconds,
      request,
      includes: echoed,
      payerKeys,
    });
    const [mine, theirs] = await runRounds(ctx.load, ctx.rounds, [
      { name: 'ours', job: jobOf(invokeRequest(ctx, { 'x-payment-method': 'x402' })) },
      { name: peer.name, job: jobOf(peerRequest(peer.url)) },
    ]);
    if (!mine || !theirs) continue;
    const beside = peerOf(peer.name, mine, theirs);
    figures.push({
      ...figureOf('b', 'x402-paid call', callers, mine),
      peer: beside,
      aim: { text: `at least ${AIM}x`, isReached: beside.ratio >= AIM },
      note: `signing, apart: ${mine.signMs?.toFixed(1)} ms a call`,
    });
  }
  return figures;
}
