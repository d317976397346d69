import { type StopStep, stopInOrder } from './lib/graceful-stop.ts';
import { type LocalJson, seedLocal } from './local/seed-local.ts';
import { welcomeText } from './local/welcome.ts';
import { type NodeOptions, type RunningNode, startNode } from './node.ts';

export interface LocalNode extends RunningNode {
  readonly localJson: LocalJson;
}

/** What `npm start` does without configuration: a whole node with accounts, test money and two agents that work. */
export async function startLocalNode(options: NodeOptions): Promise<LocalNode> {
  const { config, log } = options;
  const node = await startNode(options);
  const agentStops: StopStep[] = [];
  // The agents go last: what is running may still need them.
  const stop = () => stopInOrder([{ name: 'node', stop: () => node.stop() }, ...agentStops.splice(0)], { log });
  try {
    if (!node.local) throw new Error('local mode needs NODE_ENV other than production');
    const localJson = await seedLocal(node.ctx, config, node.local, agentStops);
    if (config.logLevel !== 'silent') process.stdout.write(`${welcomeText(localJson, config.dataDir)}\n`);
    return { ...node, localJson, stop: async () => void (await stop()) };
  } catch (error) {
    await stop();
    throw error;
  }
}
