import type { LocalChain } from '@agent-network/chain/local-chain';
import { type Answer, type RequestOptions, send, type TestAccount } from '../../support/harness.ts';
import { type NodeCluster, startCluster } from '../../support/node-cluster.ts';
import { startTestAgent, type TestAgent } from '../../support/test-agent.ts';
import { type Insisted, insist } from './insist.ts';
import { startUndyingNode, type UndyingNode } from './undying-node.ts';

export const PRICE = '0.05';
export const PRICE_MICRO = 50_000n;

/** A node of one process with a database of its own, and the agents of one owner; used for one crash after the other. */
export interface CrashSite extends NodeCluster {
  readonly node: UndyingNode;
  readonly owner: TestAccount;
  readonly agents: readonly [TestAgent, TestAgent];
  request(method: string, path: string, options?: RequestOptions): Promise<Answer>;
  insist(method: string, path: string, options?: RequestOptions): Promise<Insisted>;
}

export async function startCrashSite(chain: LocalChain): Promise<CrashSite> {
  const cluster = await startCluster({ chain });
  const startProcess: NodeCluster['startProcess'] = (env) => cluster.startProcess({ CHANNELS: 'true', ...env });
  const node = await startUndyingNode({ ...cluster, startProcess }, { keepsAddress: true });
  const request = async (method: string, path: string, options?: RequestOptions) =>
    send(await node.baseUrl(), method, path, options);
  const owner = await cluster.newAccount();
  const newAgent = () => startTestAgent({ ...cluster, request }, { owner, perRequest: PRICE });
  const agents: CrashSite['agents'] = [await newAgent(), await newAgent()];
  return {
    ...cluster,
    node,
    owner,
    agents,
    request,
    insist: (method, path, options) => insist(node.baseUrl, method, path, options),
    async stop() {
      node.release();
      await Promise.all(agents.map((agent) => agent.die()));
      await cluster.stop();
    },
  };
}
