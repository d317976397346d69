import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import { multicall3Abi } from '@agent-network/chain/multicall3-abi';
import { encodeFunctionResult, type Hex } from 'viem';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createUsdcClient } from './usdc-client.ts';

const word = (value: number): Hex => `0x${value.toString(16).padStart(64, '0')}`;
const address = (nth: number) => `0x${nth.toString(16).padStart(40, '0')}`;

type Call = { readonly id: number; readonly method: string };
const resultOf = (method: string): Hex =>
  method === 'eth_call'
    ? encodeFunctionResult({ abi: multicall3Abi, functionName: 'aggregate3', result: [...answers] })
    : '0x1';
let answers: readonly { success: boolean; returnData: Hex }[] = [];
const node = createServer(async (request, response) => {
  const calls = (await json(request)) as Call | Call[];
  const answer = ({ id, method }: Call) => ({ jsonrpc: '2.0', id, result: resultOf(method) });
  response.setHeader('content-type', 'application/json');
  response.end(JSON.stringify(Array.isArray(calls) ? calls.map(answer) : answer(calls)));
});
beforeAll(async () => {
  node.listen(0, '127.0.0.1');
  await once(node, 'listening');
});
afterAll(() => void node.close());

it('an authorization without an answer of the RPC node is neither spent nor unspent, and the answers about others count', async () => {
  const { port } = node.address() as AddressInfo;
  const usdc = createUsdcClient({ rpcUrl: `http://127.0.0.1:${port}`, token: address(1) });
  answers = [
    { success: true, returnData: word(1) },
    { success: true, returnData: '0x' },
    // The data of a revert is no word of the token.
    { success: false, returnData: `0x08c379a0${'00'.repeat(64)}` },
    { success: false, returnData: word(1) },
    { success: true, returnData: word(0) },
  ];
  const asked = answers.map((_, nth) => ({ from: address(nth + 2), nonce: word(nth) }));
  expect(await usdc.areSpent(asked)).toEqual([true, null, null, null, false]);
  answers = [{ success: true, returnData: '0x' }];
  await expect(usdc.isSpent({ from: address(2), nonce: word(1) })).rejects.toThrow('does not tell');
});
