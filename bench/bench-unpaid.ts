import { type BenchContext, type Figure, figureOf, invokeRequest, peerOf, peerRequest } from './bench-context.ts';
import type { LoadJob } from './load-jobs.ts';
import { installPeers, startPeer } from './peers.ts';
import { runRounds } from './rounds.ts';

const CALLERS = 16;

/** (a) A call without a payment, answered with 402 and its terms. */
export async function benchUnpaid(ctx: BenchContext): Promise<Figure[]> {
  installPeers();
  const peers = [
    await startPeer(ctx.stops, 'hono', ctx.service.local),
    await startPeer(ctx.stops, 'express', ctx.service.local),
  ];
  const jobOf = (request: ReturnType<typeof peerRequest>, includes: string): LoadJob => ({
    kind: 'plain',
    callers: CALLERS,
    seconds: ctx.seconds,
    questions: [{ request, status: 402, includes }],
  });
  const ours = { name: 'ours', job: jobOf(invokeRequest(ctx, { 'x-payment-method': 'x402' }), '"PAYMENT_REQUIRED"') };
  const others = peers.map(({ name, url }) => ({ name, job: jobOf(peerRequest(url), '') }));
  const [mine, ...theirs] = await runRounds(ctx.load, ctx.rounds, [ours, ...others]);
  return theirs.flatMap((result, index): Figure[] => {
    const { name } = peers[index] ?? {};
    if (!mine || !name) return [];
    const peer = peerOf(name, mine, result);
    const aim = name === '@x402/hono' ? { aim: { text: 'at least level', isReached: peer.ratio >= 1 } } : {};
    return [{ ...figureOf('a', 'unpaid call → 402', CALLERS, mine), peer, ...aim }];
  });
}
