import { type Harness, type HarnessOptions, startHarness } from './harness.ts';
import { type NodeFront, startNodeFront } from './node-front.ts';
import { until } from './until.ts';
import { startWatch } from './watch.ts';

/** A node among others: its own database, the chain of the first, an address that can be taken from it. */
export interface NetworkNode extends Harness {
  readonly label: string;
  readonly front: NodeFront;
}

/** Starts nodes on one chain, which is the first one's; their labels are node-1, node-2, ... Stop them last to first. */
export async function startNodes(count: number, options: HarnessOptions = {}): Promise<NetworkNode[]> {
  const nodes: NetworkNode[] = [];
  for (let nth = 1; nth <= count; nth++) {
    const front = await startNodeFront();
    const label = `node-${nth}`;
    const first = nodes[0];
    const chain = first ? { CHAIN_RPC_URL: first.rpcUrl } : {};
    const env = { ...chain, PORT: String(front.port), BASE_URL: front.baseUrl, NODE_LABEL: label, ...options.env };
    nodes.push({ ...(await startHarness({ registers: true, ...options, env })), label, front });
  }
  return nodes;
}

export async function stopNodes(nodes: readonly NetworkNode[]): Promise<void> {
  for (const node of [...nodes].reverse()) {
    await node.stop();
    await node.front.die();
  }
}

/** Waits for something to be so. Answers how long it took by startWatch. */
export async function untilSo(what: string, ask: () => Promise<boolean>): Promise<number> {
  const tookMs = startWatch();
  await until(ask).catch((cause) => {
    throw new Error(`not in time: ${what}`, { cause });
  });
  return tookMs();
}

/** One node's entry for another: its row of GET /network. */
export async function seenBy(node: Pick<Harness, 'request'>, baseUrl: string) {
  const { body } = await node.request('GET', '/network');
  return body.data.nodes.find((each: { baseUrl: string }) => each.baseUrl === baseUrl) ?? null;
}
