import { generatePrivateKey, privateKeyToAddress } from 'viem/accounts';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ArmedFailpoint, failpoints, parseFailpoint } from '../../../src/lib/process/failpoint.ts';
import { startUndyingNode, type UndyingNode } from '../../chaos/torture/undying-node.ts';
import { type Harness, send, type TestAccount } from '../../support/harness.ts';
import { isLong } from '../../support/long.ts';
import { untilSo } from '../../support/network.ts';
import { type NodeCluster, startCluster } from '../../support/node-cluster.ts';
import { startTestAgent, type TestAgent } from '../../support/test-agent.ts';
import { until } from '../../support/until.ts';
import { untilRegistered } from './support/registered.ts';
import { stockReader } from './support/stock-reader.ts';

const registrarKey = generatePrivateKey();
const registrar = privateKeyToAddress(registrarKey);
const agents: TestAgent[] = [];
let cluster: NodeCluster;
let node: UndyingNode;
let owner: TestAccount;
let chain: ReturnType<typeof stockReader>;

beforeAll(async () => {
  cluster = await startCluster({ stderr: 'ignore' });
  const startProcess: NodeCluster['startProcess'] = (env) =>
    cluster.startProcess({ REGISTRAR_PRIVATE_KEY: registrarKey, REGISTRY_POLL_MS: '250', ...env });
  node = await startUndyingNode({ ...cluster, startProcess });
  owner = await cluster.newAccount();
  chain = stockReader(cluster.chain.rpcUrl);
  // Later it would be counted among the agents' tokens.
  await untilSo("the node's own entry is on the chain", async () => (await ownEntries()).length === 1);
});
afterAll(async () => {
  node.release();
  await Promise.all(agents.map((agent) => agent.die()));
  await cluster.stop();
});

/** Asks until there is a process that answers. */
const request: Harness['request'] = (method, path, options) =>
  until(async () => send(await node.baseUrl(), method, path, options).catch(() => null));

const ownEntries = async (): Promise<{ agentId: number }[]> =>
  (await request('GET', '/.well-known/agent-network.json')).body.registrations;

/** Entries that the registrar holds: those of the agents, and the node's own. */
const countTokens = () => chain.countOf(registrar);

async function newAgents(count: number): Promise<TestAgent[]> {
  const started = await Promise.all(
    Array.from({ length: count }, () => startTestAgent({ request, newAccount: cluster.newAccount }, { owner })),
  );
  agents.push(...started);
  return started;
}

const untilLeadsTo = (tokenId: string, uri: string) =>
  untilSo(`token ${tokenId} leads to ${uri}`, async () => (await chain.tokenUri(tokenId)) === uri);

/** Every place once, in the order in which a registration comes by; in the long run, each by itself. */
const deaths = [
  'before-registry-write-commit then after-registry-write-commit then after-send then before-registry-record-commit then after-registry-record-commit',
  ...(isLong
    ? [
        'before-registry-write-commit then after-registry-record-commit',
        'after-registry-write-commit',
        'before-send',
        'after-send',
        'before-read-mined',
        'before-registry-record-commit',
      ]
    : []),
];
const parse = (text: string) => text.split(' then ').map((each) => parseFailpoint(each) as ArmedFailpoint);

describe('a process that dies over registrations, and is started again', () => {
  it.each(deaths)('dying %s: one token for each agent', async (text) => {
    const [first] = await newAgents(1);
    const known = await untilRegistered({ request }, first?.id ?? '');
    const tokens = await countTokens();
    const before = node.deaths();
    const [here, ...afterwards] = parse(text);
    await node.arm(here as ArmedFailpoint, afterwards);
    const started = await newAgents(3);
    const identities = await Promise.all(started.map(({ id }) => untilRegistered({ request }, id)));
    await expect.poll(() => node.deaths() - before).toBe(1 + afterwards.length);
    expect(await countTokens()).toBe(tokens + 3);
    // Each process has an address of its own, where all entries lead in the end, the node's own as well.
    const baseUrl = await node.baseUrl();
    for (const { id, onChain } of [known, ...identities])
      await untilLeadsTo(onChain.tokenId, `${baseUrl}/agents/${id}/registration.json`);
    const [own] = await ownEntries();
    await untilLeadsTo(String(own?.agentId), `${baseUrl}/.well-known/agent-network.json`);
  });

  it('every failpoint of the registry is among them', () => {
    const named = deaths.flatMap((text) => parse(text).map(({ name }) => name));
    expect(failpoints.filter((name) => name.includes('registry') && !named.includes(name))).toEqual([]);
  });
});
