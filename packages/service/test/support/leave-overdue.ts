import { askDatabase } from './books.ts';
import type { Harness } from './harness.ts';

/**
 * Leaves a request of this process as if the process had died, and it had not been recovered before its deadline. Later writes of this
 * process have no effect; recovery takes over the request.
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
