import type { SignedAuthorization } from '../../chain/settlement-call.ts';
import { type HasUsdc, NO_REASON } from '../../chain/usdc-client.ts';

/**
 * For each transfer, the reason that the token would refuse it now; null when it would accept it. A transfer that fails without a reason in
 * a batch, where others may have used up the gas, is simulated again alone.
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
