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
import type { Request } from './http-connection.ts';
import type { LoadJob } from './load-jobs.ts';
import { installPeers, startPeer } from './peers.ts';
import { runRounds } from './rounds.ts';

const PAYERS = 16;
/** Until the code that a call takes is compiled, on both sides. */
const WARM_UP_SECONDS = 5;
/** Aims: calls a second as a multiple of the reference stack's, by number of callers. */
const AIMS: Readonly<Record<number, number>> = { 1: 1, 32: 3, 256: 20 };

/** (b) A whole paid call: unpaid, 402, paid and settled on chain, answered with the result. */
export const benchPaid = (ctx: BenchContext): Promise<Figure[]> =>
  paidFigures(ctx, { bench: 'b', what: 'x402-paid call' });

/** Figures of paid calls, on any chain that the service uses. */
export async function paidFigures(
  ctx: BenchContext,
  { bench, what }: Pick<Figure, 'bench' | 'what'>,
): Promise<Figure[]> {
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
  const contestants = (callers: number, seconds: number) => {
    const jobOf = (request: Request): LoadJob => {
      return { kind: 'paid', callers, seconds, request, includes: echoed, payerKeys };
    };
    return [
      { name: 'ours', job: jobOf(invokeRequest(ctx, { 'x-payment-method': 'x402' })) },
      { name: peer.name, job: jobOf(peerRequest(peer.url)) },
    ];
  };
  for (const { job } of contestants(32, WARM_UP_SECONDS)) await ctx.load.run(job);
  const figures: Figure[] = [];
  for (const [callers, aim] of Object.entries(AIMS).map(([key, value]) => [Number(key), value] as const)) {
    const [mine, theirs] = await runRounds(ctx.load, ctx.rounds, contestants(callers, ctx.seconds));
    if (!mine || !theirs) continue;
    const beside = peerOf(peer.name, mine, theirs);
    figures.push({
      ...figureOf(bench, what, callers, mine),
      peer: beside,
      aim: { text: `at least ${aim}x`, isReached: beside.ratio >= aim },
      note: `signing, apart: ${mine.signMs?.toFixed(1)} ms a call`,
    });
  }
  return figures;
}
