import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, inject, it, onTestFinished } from 'vitest';
import { startMcpUpstream } from '../../service/test/calls/protocols/support/mcp-upstream.ts';
import { type Harness, startHarness } from '../../service/test/support/harness.ts';
import { untilStatus } from '../../service/test/support/test-agent.ts';
import { newClient, untilEnded } from '../../service/test/support/treasury.ts';

const run = promisify(execFile);
const root = join(import.meta.dirname, '../../..');

const script = `
import { createClient, verifyWebhook } from '@agent-network/sdk';
import { serveAgent } from '@agent-network/sdk/agent';
const client = createClient({ baseUrl: process.argv[2] });
const { agents } = await client.listAgents();
const agent = await serveAgent({ handle: () => 'done', identityToken: '0x' + '0'.repeat(64) });
await agent.close();
console.log(JSON.stringify({ agents, kinds: [typeof verifyWebhook, typeof serveAgent] }));
`;
const typed = `
import { createClient, type Client } from '@agent-network/sdk';
import { parseUsdc } from '@agent-network/contracts/money';
const client: Client = createClient({ baseUrl: 'https://node.example' });
export const total: Promise<number> = client.listAgents({ query: { limit: 1 } }).then((page) => page.total);
export const micro: bigint = parseUsdc('0.05');
// @ts-expect-error an agent has no such field
client.getAgent({ params: { id: 'agent_1' } }).then((agent) => agent.nothing);
`;

it.runIf(inject('isLong'))(
  'the tarballs of a node are installed by their address alone',
  { timeout: 300_000 },
  async () => {
    const h = await startHarness();
    const project = await mkdtemp(join(tmpdir(), 'agent-network-served-'));
    onTestFinished(async () => {
      await h.stop();
      await rm(project, { recursive: true, force: true });
    });
    await writeFile(join(project, 'package.json'), JSON.stringify({ private: true, type: 'module' }));
    const install = ['install', '--no-audit', '--no-fund', `${h.baseUrl}/sdk.tgz`, `${h.baseUrl}/cli.tgz`];
    await run('npm', install, { cwd: project });
    await writeFile(join(project, 'use.mjs'), script);
    const used = await run(process.execPath, ['use.mjs', h.baseUrl], { cwd: project });
    expect(JSON.parse(used.stdout)).toEqual({ agents: [], kinds: ['function', 'function'] });
    const command = join(project, 'node_modules/.bin/agentnet');
    const searched = await run(command, ['search', '--json', '--url', h.baseUrl], { cwd: project });
    expect(JSON.parse(searched.stdout)).toMatchObject({ agents: [], total: 0 });
    const mcp = await startMcpUpstream();
    onTestFinished(() => mcp.stop());
    await callServed(h, command, ['--name', 'a program', '--', 'cat'], { task: 'hello' });
    await callServed(h, command, [mcp.endpoint, '--protocol', 'mcp', '--tool', 'shout'], { text: 'shout: hello!' });
  },
);

/** Serves an agent with an installed agentnet, calls it as another account, and ends it by Ctrl-C. */
async function callServed(h: Harness, command: string, target: readonly string[], result: object): Promise<void> {
  const owner = await h.newAccount();
  const folder = await mkdtemp(join(tmpdir(), 'agentnet-served-'));
  const env = { AGENTNET_URL: h.baseUrl, AGENTNET_API_KEY: owner.key, AGENTNET_CONFIG_DIR: folder };
  const child = spawn(command, ['serve', '--json', '-c', 'echo', '--price', '0.02', ...target], {
    env: { ...process.env, ...env },
  });
  const ended = once(child, 'exit');
  onTestFinished(async () => {
    child.kill('SIGKILL');
    await rm(folder, { recursive: true, force: true });
  });
  let shown = '';
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', (text) => (shown += text));
  await expect.poll(() => shown).toContain('agentId');
  const { agentId } = JSON.parse(shown.split('\n')[0] ?? '');
  await untilStatus(h, agentId, 'online');
  const { key } = await newClient(h, '1');
  const { body } = await h.request('POST', `/invoke/${agentId}`, { key, body: { task: 'hello', input: {} } });
  expect(await untilEnded(h, key, body.data.requestId)).toMatchObject({ status: 'completed', result, cost: '0.02' });
  child.kill('SIGINT');
  expect((await ended)[0]).toBe(0);
}

/** The node version that runs the tests, and another one when it is installed: packages run on 20. */
async function nodes(): Promise<string[]> {
  const found = await run('/usr/bin/node', ['--version']).catch(() => null);
  return found?.stdout.startsWith('v2') ? [process.execPath, '/usr/bin/node'] : [process.execPath];
}

it.runIf(inject('isLong'))(
  'the packed tarballs work in an empty project: by plain Node, by its types, and publint and attw find nothing',
  { timeout: 300_000 },
  async () => {
    const { stdout } = await run(process.execPath, ['scripts/build-packages.ts'], { cwd: root });
    const tarballs = stdout.trim().split('\n');
    for (const folder of ['contracts', 'sdk', 'cli'])
      await run('npx', ['publint', '--strict', `build/${folder}`], { cwd: root });
    const attw = ['attw', '--pack', 'build/sdk', '--profile', 'esm-only'];
    await run('npx', attw, { cwd: root });

    const project = await mkdtemp(join(tmpdir(), 'agent-network-installed-'));
    const server = createServer((_request, response) => {
      const data = { agents: [], total: 0, limit: 20, offset: 0, nextCursor: null };
      response.setHeader('content-type', 'application/json').end(JSON.stringify({ status: 'success', data }));
    });
    server.listen(0, '127.0.0.1');
    onTestFinished(async () => {
      server.close();
      await rm(project, { recursive: true, force: true });
    });
    await writeFile(join(project, 'package.json'), JSON.stringify({ private: true, type: 'module' }));
    const install = ['install', '--no-audit', '--no-fund', ...tarballs.map((tarball) => join(root, tarball))];
    await run('npm', install, { cwd: project });
    await writeFile(join(project, 'use.mjs'), script);
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    for (const node of await nodes()) {
      const used = await run(node, ['use.mjs', url], { cwd: project });
      expect(JSON.parse(used.stdout)).toEqual({ agents: [], kinds: ['function', 'function'] });
    }
    const searched = await run(join(project, 'node_modules/.bin/agentnet'), ['search', '--json', '--url', url], {
      cwd: project,
    });
    expect(JSON.parse(searched.stdout)).toMatchObject({ agents: [], total: 0 });
    await writeFile(join(project, 'typed.ts'), typed);
    const flags = ['--noEmit', '--strict', '--module', 'nodenext', '--target', 'es2024', '--types', 'node'];
    const types = ['--typeRoots', join(root, 'node_modules/@types'), '--skipLibCheck', 'false'];
    const tsc = join(root, 'node_modules/@typescript/native/bin/tsc');
    await run(process.execPath, [tsc, ...flags, ...types, 'typed.ts'], { cwd: project }).catch(({ stdout }) =>
      expect(stdout).toBe(''),
    );
  },
);
