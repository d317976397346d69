import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { payOn, startTwoNetworks, type TwoNetworks } from '../../service/test/support/two-networks.ts';
import { bundledMain, inItsProcess } from './support/command-lines.ts';

let t: TwoNetworks;
let folder: string;
beforeAll(async () => {
  t = await startTwoNetworks();
  folder = await mkdtemp(join(tmpdir(), 'agentnet-'));
});
afterAll(async () => {
  await t.stop();
  await rm(folder, { recursive: true, force: true });
});

it('the balance has each network with money, and its treasuries; that of one network is told as ever', async () => {
  const { h } = t;
  const { key } = await h.newAccount();
  const env = { PATH: process.env.PATH, HOME: folder, AGENTNET_CONFIG_DIR: folder, AGENTNET_API_KEY: key };
  const agentnet = inItsProcess(() => env, bundledMain);
  const balance = async () => (await agentnet(['balance', '--url', h.baseUrl])).stdout;
  const { treasuryId } = (await h.request('POST', '/payments/treasury', { key, body: {} })).body.data;
  const before = await balance();
  expect(before).toContain(treasuryId);
  expect(before).not.toContain('NETWORK');

  const path = '/payments/treasury/deposit';
  const body = { amount: '0.70' };
  const wallet = await t.walletOnOther();
  const headers = await payOn(t.onOther(), wallet, await h.request('POST', path, { key, body }));
  expect((await h.request('POST', path, { key, body, headers })).status).toBe(200);
  const after = await balance();
  expect(after).toMatch(/^eip155:84532 +USDC +0\.00 +0\.00 +0\.00$/m);
  expect(after).toMatch(/^eip155:421614 +USDC +0\.70 +0\.00 +0\.00$/m);
  expect(after).toMatch(new RegExp(`^${treasuryId} +the account +0\\.00`, 'm'));
  expect(after).toContain(`${treasuryId}@${t.onOther().chain.ledgerAsset}`);
});
