import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { startFakeNode, success } from '../../sdk/test/support/fake-node.ts';
import { BUNDLES } from '../../service/test/support/bundled.ts';
import { inItsProcess, startCommandLines } from './support/command-lines.ts';

it('a misspelt profile is an error, and no other node is called instead', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'agentnet-profile-'));
  const env = { PATH: process.env.PATH, AGENTNET_CONFIG_DIR: folder, NODE_COMPILE_CACHE: BUNDLES };
  const lines = await startCommandLines({ ...env, AGENTNET_API_KEY: 'ank_test_other' });
  onTestFinished(async () => {
    await lines.stop();
    await rm(folder, { recursive: true });
  });
  await using node = await startFakeNode(() => success({ accountId: 'acc_1', plan: 'free', address: '0x0' }));
  for (const command of ['balance', 'search', 'status', 'doctor']) {
    const { code, stderr } = await lines.run([command, '--profile', 'prodd']);
    expect([command, code, stderr]).toEqual([command, 2, expect.stringContaining('no profile "prodd"')]);
  }
  const own = { AGENTNET_PROFILE: 'prodd' };
  expect((await lines.run(['whoami'], { env: own })).code).toBe(2);
  expect((await lines.run(['whoami', '--url', node.baseUrl], { env: own })).code).toBe(0);
  expect((await lines.run(['profiles', 'list'], { env: own })).code).toBe(0);
});

it('the wallet of a local node signs and pays for no other node', async () => {
  const startNode = () => startFakeNode(() => success({ accountId: 'acc_1', plan: 'free', address: '0x0' }));
  await using local = await startNode();
  await using other = await startNode();
  const folder = await mkdtemp(join(tmpdir(), 'agentnet-profile-'));
  const env = { PATH: process.env.PATH, AGENTNET_CONFIG_DIR: folder, NODE_COMPILE_CACHE: BUNDLES };
  const lines = await startCommandLines(env);
  onTestFinished(async () => {
    await lines.stop();
    await rm(folder, { recursive: true });
  });
  const wallets = [{ privateKey: `0x${'12'.repeat(32)}` }];
  const kept = { baseUrl: local.baseUrl, apiKey: 'ank_test_local', wallets };
  await writeFile(join(folder, 'local.json'), JSON.stringify(kept));
  expect((await lines.run(['login', '--local', '--data-dir', folder])).code).toBe(0);

  const signed = await lines.run(['login', '--wallet', '--url', other.baseUrl]);
  expect([signed.code, signed.stderr]).toEqual([2, expect.stringContaining('AGENTNET_WALLET_KEY')]);
  expect(other.seen).toEqual([]);

  const input = 'ank_test_other';
  const moved = await inItsProcess(() => env)(['login', '--with-key', '--url', other.baseUrl], { input });
  expect(moved.code).toBe(0);
  const paid = await lines.run(['deposit', '1.00', '--yes', '--json']);
  expect([paid.code, JSON.parse(paid.stderr).error.code]).toEqual([5, 'WALLET_MISSING']);
});
