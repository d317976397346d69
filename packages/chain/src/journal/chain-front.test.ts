import { request } from 'node:http';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { chainReader, USDC } from '../../test/chain-clients.ts';
import { callChain, callChainBatch } from '../chain-rpc-client.ts';
import { type LocalChain, startLocalChain } from '../local-chain.ts';

const payer = privateKeyToAccount(generatePrivateKey());
const FEES = { gas: 21_000n, maxFeePerGas: 10n ** 9n, maxPriorityFeePerGas: 0n };
let chain: LocalChain;

beforeAll(async () => {
  chain = await startLocalChain({ wallets: [{ address: payer.address, ethWei: 10n ** 18n, usdcMicro: 0n }] });
});
afterAll(() => chain.stop());

const sign = (nonce: number) =>
  payer.signTransaction({ type: 'eip1559', chainId: 84532, to: USDC, nonce, ...FEES, gas: 60_000n });
const post = async (body: string) => {
  const response = await fetch(chain.rpcUrl, { method: 'POST', body, headers: { 'content-type': 'application/json' } });
  // biome-ignore lint/suspicious/noExplicitAny: answers of every shape
  return { status: response.status, answer: (await response.json().catch(() => null)) as any };
};

it('answers as anvil does: results, errors with their code and data, batches, ids of any kind', async () => {
  expect((await post('{"jsonrpc":"2.0","id":"a","method":"eth_chainId","params":[]}')).answer).toMatchObject({
    id: 'a',
    result: '0x14a34',
  });
  const bad = '{"jsonrpc":"2.0","id":7,"method":"eth_sendRawTransaction","params":["0x00"]}';
  expect((await post(bad)).answer).toMatchObject({
    id: 7,
    error: { code: expect.any(Number), message: expect.any(String) },
  });
  const batch =
    '[{"jsonrpc":"2.0","id":1,"method":"eth_chainId","params":[]},{"jsonrpc":"2.0","id":2,"method":"evm_mine"}]';
  expect((await post(batch)).answer).toMatchObject([
    { id: 1, result: '0x14a34' },
    { id: 2, result: '0x0' },
  ]);
});

it('refuses calls that it could not replay, unknown methods, and malformed calls', async () => {
  for (const method of ['anvil_reset', 'evm_setIntervalMining', 'eth_sendSomething', 'anvil_toString', 'admin_peers'])
    expect((await post(JSON.stringify({ id: 1, method, params: [] }))).answer.error).toMatchObject({ code: -32601 });
  expect((await post('{')).answer.error.code).toBe(-32700);
  for (const body of ['1', 'null', '{}', '{"method":"evm_mine","params":{}}'])
    expect((await post(body)).answer.error.code).toBe(-32600);
  expect((await fetch(chain.rpcUrl)).status).toBe(405);
});

it('a transaction is in a block when it is answered, and its receipt with it where that is asked for', async () => {
  const hash = await callChain(chain.rpcUrl, 'eth_sendRawTransaction', await sign(0));
  expect(await callChain(chain.rpcUrl, 'eth_getTransactionReceipt', hash)).not.toBeNull();
  const receipt = await callChain(chain.rpcUrl, 'eth_sendRawTransactionSync', await sign(1));
  expect(receipt).toMatchObject({ from: payer.address.toLowerCase() });
});

it('with automining off, transactions wait until somebody mines', async () => {
  await callChain(chain.rpcUrl, 'evm_setAutomine', false);
  const hash = await callChain(chain.rpcUrl, 'eth_sendRawTransaction', await sign(2));
  expect(await callChain(chain.rpcUrl, 'eth_getTransactionReceipt', hash)).toBeNull();
  await callChain(chain.rpcUrl, 'evm_setAutomine', true);
  expect(await callChain(chain.rpcUrl, 'eth_getTransactionReceipt', hash)).not.toBeNull();
});

it('the clock moves as callers ask, block by block', async () => {
  const newest = async () => Number((await chainReader(chain.rpcUrl).getBlock()).timestamp);
  const before = await newest();
  await callChainBatch(chain.rpcUrl, [['evm_increaseTime', 500], ['evm_mine']]);
  expect(await newest()).toBeGreaterThanOrEqual(before + 500);
  await callChainBatch(chain.rpcUrl, [['evm_setNextBlockTimestamp', before + 2000], ['evm_mine']]);
  expect(await newest()).toBe(before + 2000);
  await callChain(chain.rpcUrl, 'anvil_mine', '0x3', '0x64');
  expect(await newest()).toBe(before + 2200);
});

/** Sends a call with headers of its own; the status, or null when it hangs up instead of waiting. */
const sendRaw = (headers: Record<string, string>, { hangsUp = false, method = 'eth_chainId' } = {}) =>
  new Promise<number | null>((resolve, reject) => {
    const { hostname, port } = new URL(chain.rpcUrl);
    const call = request({ hostname, port, method: 'POST', headers });
    call.on('error', (error) => (hangsUp ? resolve(null) : reject(error)));
    call.on('response', (response) => resolve(response.resume().statusCode ?? 0));
    call.end(JSON.stringify({ jsonrpc: '2.0', id: 1, method, params: [] }), () => {
      if (hangsUp) setImmediate(() => call.destroy());
    });
  });

it('readers that hang up hold nothing: the chain answers the next one', async () => {
  for (let round = 0; round < 4; round++)
    await Promise.all(Array.from({ length: 100 }, () => sendRaw({}, { hangsUp: true, method: 'anvil_dumpState' })));
  expect((await post('{"jsonrpc":"2.0","id":1,"method":"eth_chainId","params":[]}')).answer.result).toBe('0x14a34');
});

it('a web page can neither read nor change it, by its own host name or by one that resolves here', async () => {
  const { port } = new URL(chain.rpcUrl);
  const statuses = (...all: Record<string, string>[]) => Promise.all(all.map((headers) => sendRaw(headers)));
  expect(
    await statuses(
      { origin: 'https://evil.example' },
      { origin: 'null' },
      { origin: 'http://127.0.0.1.evil.example' },
      { host: 'evil.example' },
      { host: `rebound.example:${port}` },
    ),
  ).toEqual([403, 403, 403, 403, 403]);
  expect(
    await statuses(
      {},
      { host: `localhost:${port}` },
      { host: `[::1]:${port}` },
      { origin: 'http://localhost:3000' },
      { origin: 'http://127.0.0.1:5173' },
      { origin: 'chrome-extension://nkbihfbeogaeaoehlefnkodbefgpgknn' },
    ),
  ).toEqual([200, 200, 200, 200, 200, 200]);
});

it('a body over 32 MB is refused without being kept', async () => {
  const body = `{"id":1,"method":"eth_call","params":["${'0'.repeat(33 * 1024 * 1024)}"]}`;
  const outcome = await post(body).then(
    ({ status }) => status,
    () => 'cut',
  );
  expect([413, 'cut']).toContain(outcome);
  expect(await callChain(chain.rpcUrl, 'eth_chainId')).toBe('0x14a34');
});
