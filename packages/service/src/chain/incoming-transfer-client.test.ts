import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { pad, toEventHash } from 'viem';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createWalletReads } from './outgoing-transfer-client.ts';

type Hex = `0x${string}`;
interface Call {
  readonly id: number;
  readonly method: string;
  readonly params: readonly unknown[];
}

const [TOKEN, WALLET, OTHER] = ['70', '3a', '0b'].map((byte) => `0x${byte.repeat(20)}` as Hex) as [Hex, Hex, Hex];
const BLOCK = `0x${'b1'.repeat(32)}`;
const TRANSFER = toEventHash('Transfer(address,address,uint256)');
const [FIRST, SECOND] = [`0x${'01'.repeat(32)}`, `0x${'02'.repeat(32)}`];

/** A transfer from the wallet to itself: both readers read it. */
const logOf = (transactionHash: string) => ({
  address: TOKEN,
  topics: [TRANSFER, pad(WALLET), pad(WALLET)],
  data: pad('0x7'),
  blockNumber: '0x1',
  blockHash: BLOCK,
  transactionHash,
  transactionIndex: '0x0',
  logIndex: '0x0',
});
const receiptOf = (transactionHash: string) => ({
  ...{ transactionHash, blockNumber: '0x1', blockHash: BLOCK, transactionIndex: '0x0', status: '0x1', type: '0x2' },
  ...{ from: OTHER, to: TOKEN, gasUsed: '0x1', cumulativeGasUsed: '0x1', effectiveGasPrice: '0x1' },
  logs: [logOf(transactionHash)],
});
const answerTo = ({ id, method, params }: Call) => {
  const logs = [logOf(FIRST), logOf(SECOND)];
  const result = method === 'eth_getTransactionReceipt' ? receiptOf(String(params[0])) : logs;
  return { jsonrpc: '2.0', id, result: method === 'eth_blockNumber' ? '0x1' : result };
};

/** An RPC node that leaves the first receipt of a batch out. */
let server: Server;
let isWhole = false;
const callsIn = async (message: IncomingMessage): Promise<Call | Call[]> =>
  JSON.parse(Buffer.concat(await message.toArray()).toString());
beforeAll(async () => {
  server = createServer(async (message, response) => {
    const calls = [await callsIn(message)].flat();
    const isCut = !isWhole && calls.length > 1 && calls[0]?.method === 'eth_getTransactionReceipt';
    response.end(JSON.stringify(calls.slice(isCut ? 1 : 0).map(answerTo)));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
});
afterAll(() => void server.close());

it.each(['incomingTransfers', 'outgoingTransfers'] as const)(
  '%s: a receipt that is missing in the answer to several is not read as another transaction’s',
  async (reader) => {
    const rpcUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const reads = createWalletReads({ rpcUrl, token: TOKEN, wallet: WALLET });
    isWhole = false;
    await expect(reads[reader].read(1n, 1n)).rejects.toThrow('receipt of another transaction');
    isWhole = true;
    const found = await reads[reader].read(1n, 1n);
    expect(found.map(({ transactionHash }) => transactionHash)).toEqual([FIRST, SECOND]);
  },
);
