import { createPublicClient, type Hex, type PublicClient, type RpcLog, type TransactionReceipt, toHex } from 'viem';
import { isRefusedSize, logsUpTo } from './rpc-errors.ts';
import { rpcTransport } from './rpc-transport.ts';

/** Logs of one contract, by topics: null for any, several for one of them. */
export interface LogFilter {
  readonly address: string;
  readonly topics: readonly (Hex | readonly Hex[] | null)[];
}

/** Reads logs of ranges of blocks. */
export interface LogQuery {
  /** The logs of all blocks from one to another. Throws when the RPC node that answers is behind, or does not return them. */
  read(filter: LogFilter, fromBlock: bigint, toBlock: bigint): Promise<RpcLog[]>;
  /** A reader of the receipts behind logs. */
  receipts<Done>(parse: (receipt: TransactionReceipt) => readonly Done[]): ReceiptReads<Done>;
}

/** The RPC node returns the logs of a block neither by a query nor in its receipts. */
export class UnreadableBlockError extends Error {
  override readonly name = 'UnreadableBlockError';

  constructor(block: bigint, options: ErrorOptions) {
    super(
      `the RPC node returns neither the logs of block ${block} (eth_getLogs) nor all its receipts (eth_getBlockReceipts): name one in CHAIN_RPC_URL that does`,
      options,
    );
  }
}

/** Limits of a query for several blocks; larger answers are queried in parts. */
const MANY = { timeout: 10_000, maxResponseBodySize: 16 * 2 ** 20 };
/**
 * Limits of a query for one block or its receipts, which can't be split. Anyone can fill a block with logs by paying its gas (8 gas a byte,
 * some 400 for 32 bytes with the rest), and an unreadable block would stop its reader for good.
 */
const ONE = { timeout: 20_000, maxResponseBodySize: 256 * 2 ** 20 };

/** Clients for logs: of several blocks, and of one. Requests of the same moment are batched, so that one RPC node usually answers all of them. */
export function createLogClients(rpcUrl: string, retryCount: number): { many: PublicClient; one: PublicClient } {
  const clientOf = (limits: typeof MANY) =>
    createPublicClient({ transport: rpcTransport(rpcUrl, { ...limits, retryCount, batch: { batchSize: 50 } }) });
  return { many: clientOf(MANY), one: clientOf(ONE) };
}

export function createLogQuery(rpcUrl: string): LogQuery {
  const { many, one } = createLogClients(rpcUrl, 1);
  return {
    async read(filter, fromBlock, toBlock) {
      if (fromBlock < toBlock) return logsUpTo(many, toBlock, () => findLogs(many, filter, { fromBlock, toBlock }));
      return logsUpTo(one, toBlock, () => findLogs(one, filter, { fromBlock, toBlock })).catch(async (error) => {
        if (!isRefusedSize(error)) throw error;
        return (await logsOfBlock(one, filter, toBlock, error)).logs;
      });
    },
    receipts: (parse) => createReceiptReads(one, parse),
  };
}

export const findLogs = (
  client: PublicClient,
  { address, topics }: LogFilter,
  { fromBlock, toBlock }: { readonly fromBlock: bigint; readonly toBlock: bigint },
): Promise<RpcLog[]> =>
  client.request({
    method: 'eth_getLogs',
    params: [
      {
        address: address as Hex,
        topics: topics.map((topic) => (typeof topic === 'object' && topic !== null ? [...topic] : topic)),
        fromBlock: toHex(fromBlock),
        toBlock: toHex(toBlock),
      },
    ],
  });

/**
 * Logs of a block from the receipts of all its transactions, with the block's hash, for when the query is refused (some RPC nodes return at
 * most 10,000 logs). Throws UnreadableBlockError when the RPC node does not return them all.
 */
export async function logsOfBlock(
  client: PublicClient,
  filter: LogFilter,
  block: bigint,
  refusal: unknown,
): Promise<{ logs: RpcLog[]; hash: string }> {
  const unreadable = (cause: unknown) => new UnreadableBlockError(block, { cause });
  const asked = Promise.all([
    client.request({ method: 'eth_getBlockByNumber', params: [toHex(block), false] }),
    client.request({ method: 'eth_getBlockReceipts', params: [toHex(block)] }),
  ]);
  const [found, receipts] = await asked.catch((error: unknown) => {
    throw isRefusedSize(error) ? unreadable(error) : error;
  });
  const isWhole =
    found?.hash &&
    receipts?.length === found.transactions.length &&
    receipts.every((each) => each.blockHash === found.hash);
  if (!isWhole) throw unreadable(refusal);
  return { logs: receipts.flatMap(({ logs }) => logs).filter(matches(filter)), hash: found.hash as string };
}

const matches =
  ({ address, topics }: LogFilter) =>
  (log: RpcLog): boolean =>
    log.address.toLowerCase() === address.toLowerCase() &&
    topics.every(
      (wanted, place) => wanted === null || [wanted].flat().includes(log.topics[place]?.toLowerCase() as Hex),
    );

/** Receipts asked for at a time: a block may have thousands. */
const AT_ONCE = 200;

/**
 * Reads the effects of the transactions that wrote logs, in the order of the logs. Throws when a transaction moved to another block in
 * between.
 */
type ReceiptReads<Done> = (logs: readonly RpcLog[]) => Promise<Done[]>;

/**
 * Reads receipts with `parse`. Caches those of the previous read, as blocks are read more than once, and a transaction's effects in a block
 * of this hash do not change.
 */
function createReceiptReads<Done>(
  client: Pick<PublicClient, 'getTransactionReceipt'>,
  parse: (receipt: TransactionReceipt) => readonly Done[],
): ReceiptReads<Done> {
  let known: ReadonlyMap<string, readonly Done[]> = new Map();

  async function readSome(places: readonly { hash: Hex; blockHash: Hex }[]): Promise<(readonly Done[])[]> {
    return Promise.all(
      places.map(async ({ hash, blockHash }) => {
        const receipt = await client.getTransactionReceipt({ hash });
        if (receipt.transactionHash !== hash)
          throw new Error('the RPC node answered with the receipt of another transaction');
        if (receipt.blockHash !== blockHash)
          throw new Error(`transaction ${hash} moved to another block while it was read`);
        return parse(receipt);
      }),
    );
  }

  return async (logs) => {
    const places = new Map(
      logs.map(({ transactionHash, blockHash }) => {
        const place = { hash: transactionHash as Hex, blockHash: blockHash as Hex };
        return [`${place.hash} ${place.blockHash}`, place] as const;
      }),
    );
    const read = new Map([...places.keys()].map((key) => [key, known.get(key)]));
    const missing = [...places].filter(([key]) => read.get(key) === undefined);
    for (let start = 0; start < missing.length; start += AT_ONCE) {
      const some = missing.slice(start, start + AT_ONCE);
      const done = await readSome(some.map(([, place]) => place));
      for (const [index, [key]] of some.entries()) read.set(key, done[index]);
    }
    known = read as Map<string, readonly Done[]>;
    return [...known.values()].flat();
  };
}

/** True if a transfer moved something: everybody may log transfers of nothing, to and from every wallet. */
export const movesMoney = ({ data }: RpcLog): boolean => BigInt(data === '0x' ? 0 : data) > 0n;
