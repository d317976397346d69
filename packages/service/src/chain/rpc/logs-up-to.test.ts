import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createSettlementContract } from '../channels/settlement-contract-client.ts';
import { createWalletReads } from '../outgoing-transfer-client.ts';

const [TOKEN, WALLET] = [`0x${'70'.repeat(20)}`, `0x${'3a'.repeat(20)}`];
/** Height of the RPC node that answers, and the methods of the requests that it was sent. */
let height = 10;
const requests: string[][] = [];
let server: Server;
let rpcUrl: string;

interface Call {
  readonly id: number;
  readonly method: string;
}

/** An RPC node without any log. */
const answerTo = ({ id, method }: Call) => {
  const result = method === 'eth_blockNumber' ? `0x${height.toString(16)}` : [];
  return { jsonrpc: '2.0', id, result };
};

async function callsIn(message: IncomingMessage): Promise<Call | Call[]> {
  return JSON.parse(Buffer.concat(await message.toArray()).toString());
}

beforeAll(async () => {
  server = createServer(async (message, response) => {
    const calls = await callsIn(message);
    requests.push([calls].flat().map(({ method }) => method));
    response.end(JSON.stringify(Array.isArray(calls) ? calls.map(answerTo) : answerTo(calls)));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  rpcUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(() => void server.close());

const reads: Record<string, (from: bigint, to: bigint) => Promise<unknown>> = {
  'transfers to the wallet': (from, to) =>
    createWalletReads({ rpcUrl, token: TOKEN, wallet: WALLET }).incomingTransfers.read(from, to),
  'transfers out of the wallet': (from, to) =>
    createWalletReads({ rpcUrl, token: TOKEN, wallet: WALLET }).outgoingTransfers.read(from, to),
  'events of payment channels': (from, to) => contract().readLogs(from, to),
  'payment channels that were opened': (from, to) => contract().readOpened(from, to),
};
const contract = () => createSettlementContract({ rpcUrl, chainId: 84_532, token: TOKEN, wallet: WALLET });

describe.each(Object.entries(reads))('%s', (_, read) => {
  it('are read of an RPC node that has the last block, which is asked for its height in the same request', async () => {
    height = 10;
    requests.length = 0;
    expect(await read(1n, 10n)).toEqual([]);
    expect(requests).toEqual([['eth_blockNumber', 'eth_getLogs']]);
  });

  it('are not taken for read when the RPC node that answers is behind the last block', async () => {
    height = 9;
    await expect(read(1n, 10n)).rejects.toThrow('up to block 10 is only at 9');
  });
});
