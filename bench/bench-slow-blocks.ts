import type { BenchContext, Figure } from './bench-context.ts';
import { paidFigures } from './bench-paid.ts';
import { startService } from './service-under-test.ts';
import { startSlowChain } from './slow-chain.ts';

const BLOCK_SECONDS = 2;
/** Long enough for several blocks. */
const SECONDS = 15;

/** (h) The same as (b) on a chain with a block every two seconds, with a service of its own. */
export async function benchSlowBlocks(ctx: BenchContext): Promise<Figure[]> {
  const rpcUrl = await startSlowChain(ctx.stops, BLOCK_SECONDS);
  const service = await startService(ctx.stops, { isProfiled: false, chainRpcUrl: rpcUrl });
  const seconds = Math.max(ctx.seconds, SECONDS);
  return paidFigures({ ...ctx, service, seconds }, { bench: 'h', what: `x402-paid call, ${BLOCK_SECONDS} s blocks` });
}
