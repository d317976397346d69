import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest';
import { BUNDLES } from '../../service/test/support/bundled.ts';
import { startLocal } from '../../service/test/support/local-node.ts';

const bin = join(import.meta.dirname, '../bin/agentnet.js');

let node: Awaited<ReturnType<typeof startLocal>>;
let folder: string;
beforeAll(async () => {
  node = await startLocal();
  folder = await mkdtemp(join(tmpdir(), 'agentnet-mcp-'));
});
afterAll(async () => {
  await node?.stop();
  await rm(folder, { recursive: true, force: true });
});

/** A stock client of `agentnet mcp`. */
async function connect(args: readonly string[], env: Record<string, string>): Promise<Client> {
  const client = new Client({ name: 'test', version: '1.0.0' });
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [bin, 'mcp', '--url', node.local.baseUrl, ...args],
    stderr: 'ignore',
    env: { PATH: process.env.PATH ?? '', NODE_COMPILE_CACHE: BUNDLES, AGENTNET_CONFIG_DIR: folder, ...env },
  });
  await client.connect(transport);
  onTestFinished(() => client.close());
  return client;
}

const call = (client: Client, maxCost: string) =>
  client.callTool({
    name: 'invoke_agent',
    arguments: { agentId: node.local.agents[0]?.id ?? '', task: 'hello', maxCost },
  });

it('a stock client finds, calls and pays agents over stdio, and not beyond the limit of a call', async () => {
  const client = await connect(['--max-per-call', '0.05'], {
    AGENTNET_API_KEY: node.local.apiKey,
    AGENTNET_WALLET_KEY: node.local.wallets[0]?.privateKey ?? '',
  });
  const { tools } = await client.listTools();
  expect(tools.map(({ name }) => name)).toContain('invoke_agent');
  const found = await client.callTool({ name: 'search_agents', arguments: { query: 'echo' } });
  expect(found.structuredContent).toMatchObject({ agents: [{ agentId: node.local.agents[0]?.id }] });
  const paid = await call(client, '0.05');
  expect(paid).toMatchObject({ structuredContent: { status: 'completed', paymentMethod: 'x402' } });
  expect(await call(client, '0.06')).toMatchObject({
    isError: true,
    structuredContent: { error: { code: 'OVER_MAX_PER_CALL' } },
  });
});

it('a wallet that pays without asking needs a limit', async () => {
  const env = { AGENTNET_WALLET_KEY: node.local.wallets[0]?.privateKey ?? '' };
  await expect(connect([], env)).rejects.toThrow();
});
