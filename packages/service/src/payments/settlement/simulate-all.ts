import type { SignedAuthorization } from '../../chain/settlement-call.ts';
import { type HasUsdc, NO_REASON } from '../../chain/usdc-client.ts';

/**
 * Why the token would refuse each transfer if it were submitted now; null when it would not. One that fails for no reason among
 * others, whose gas may have been used up, is asked about again by itself.
 */
export async function simulateAll(ctx: HasUsdc, batch: readonly SignedAuthorization[]): Promise<(string | null)[]> {
  const answers = await ctx.usdc.simulate(batch);
  if (batch.length === 1) return answers;
  return Promise.all(
    answers.map(async (answer, index) => {
      const signed = batch[index];
      return answer === NO_REASON && signed ? ((await ctx.usdc.simulate([signed]))[0] ?? null) : answer;
    }),
  );
}
