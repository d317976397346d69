import { type LocalJson, seedLocal } from './compose/local/seed-local.ts';
import { type StopStep, stopInOrder } from './lib/process/graceful-stop.ts';
import { silentProgress } from './lib/telemetry/start-progress.ts';
import { type NodeOptions, type RunningNode, startNode } from './node.ts';

export interface LocalNode extends RunningNode {
  readonly localJson: LocalJson;
}

/**
 * Starts a whole node without configuration, for `npm start`: accounts, test money and two working agents. All of it exists, and is written
 * to `local.json`, before the node reports that it is ready.
 */
export async function startLocalNode(options: NodeOptions): Promise<LocalNode> {
  const { config, log, progress = silentProgress } = options;
  const agentStops: StopStep[] = [];
  const seeded = Promise.withResolvers<LocalJson>();
  const beforeReady = async ({ ctx, local }: Omit<RunningNode, 'stop'>) => {
    if (!local) throw new Error('local mode needs NODE_ENV other than production');
    seeded.resolve(await seedLocal(ctx, config, local, { stops: agentStops, progress }));
  };
  try {
    const node = await startNode({ ...options, beforeReady });
    const localJson = await seeded.promise;
    // Stop the agents last: running work may still need them.
    const steps = [{ name: 'node', stop: () => node.stop() }, ...agentStops.splice(0)];
    return { ...node, localJson, stop: async () => void (await stopInOrder(steps.splice(0), { log })) };
  } catch (error) {
    await stopInOrder(agentStops, { log });
    throw error;
  }
}
