import { askDatabase } from './books.ts';
import type { Harness } from './harness.ts';

/**
 * Leaves a request that this process runs as one does that died, when nobody came for it until after its deadline. The writes of this process
 * are void from then on; whoever recovers invocations takes the request.
 */
export async function leaveOverdue({ ctx, databaseUrl }: Harness, requestId: string): Promise<void> {
  await askDatabase(
    databaseUrl,
    `update invocation set deadline = $2, attempt = attempt + 1, worker = gen_random_uuid(), started_at = now() - interval '1 minute'
      where id = $1`,
    [requestId, new Date(ctx.clock.now().getTime() - 1000)],
  );
  const ending = ctx.runner.ending(requestId);
  ctx.runner.abort(requestId);
  await ending;
}
