import {
  BaseError,
  decodeFunctionResult,
  ExecutionRevertedError,
  encodeFunctionData,
  type Hex,
  type PublicClient,
  parseAbi,
  toHex,
} from 'viem';
import { hasContractSigned } from './keys/contract-wallet-client.ts';

/** The newest block of the RPC node that answered. */
export interface Head {
  readonly number: bigint;
  readonly timeS: bigint;
}

/**
 * An RPC node answered "no" at a block that is older than the newest one, where the answer is another: of several nodes behind one address,
 * one is behind. Nothing is known; asking again helps.
 */
export class NodeBehindError extends Error {
  constructor() {
    super('the RPC node that answered is behind');
  }
}

/** Time for which a reported block is expected to exist; a reorg may remove it. */
const KNOWN_FOR_MS = 10_000;

/**
 * Tracks the newest block that any RPC node has recently reported. A negative answer must come from the state at that block; a node that
 * lacks the block can't give one.
 */
export function createNewestBlock(gatherer: PublicClient) {
  let newest = { number: 0n, atMs: 0 };
  const record = (number: bigint): bigint => {
    if (number >= newest.number || performance.now() - newest.atMs > KNOWN_FOR_MS)
      newest = { number, atMs: performance.now() };
    return number;
  };
  return {
    record,
    async read(): Promise<bigint> {
      record(await gatherer.getBlockNumber({ cacheTime: 0 }));
      return newest.number;
    },
  };
}

export type NewestBlock = ReturnType<typeof createNewestBlock>;

const arbGasInfoAbi = parseAbi([
  'function getPricesInWei() view returns (uint256 ofTransaction, uint256 ofDataByte, uint256 ofStorage, uint256 ofGasAtLeast, uint256 ofCongestion, uint256 ofGas)',
]);

/** Prices by the ArbGasInfo at an address, in wei: of a byte of data on the chain below, and the least of a unit of gas; null: there is none. */
async function readDataPrices(
  client: PublicClient,
  address: string,
): Promise<{ readonly byteWei: bigint; readonly gasWei: bigint } | null> {
  const { data = '0x' } = await client.call({ to: address as Hex, data: encodeFunctionData({ abi: arbGasInfoAbi }) });
  if (data === '0x') return null;
  const [, byteWei, , gasWei] = decodeFunctionResult({ abi: arbGasInfoAbi, data });
  return { byteWei, gasWei };
}

/** Chain reads that do not depend on the token. `gatherer` batches reads of the same moment into one request. */
export function readsOf(client: PublicClient, gatherer: PublicClient, newest: NewestBlock) {
  const findBlock = (block: bigint) =>
    gatherer.request({ method: 'eth_getBlockByNumber', params: [toHex(block), false] });
  return {
    chainId: () => client.getChainId(),
    headBlock: async () => newest.record(await gatherer.getBlockNumber({ cacheTime: 0 })),
    /** The newest block. Read other things at its number: of several RPC nodes behind one address, the next may be behind. */
    async head(): Promise<Head> {
      const { number, timestamp } = await client.getBlock({ blockTag: 'latest' });
      return { number: newest.record(number), timeS: timestamp };
    },
    async newestBlock() {
      const { number, hash } = await client.getBlock({ blockTag: 'latest' });
      return { number, hash };
    },
    /** The chain's own time, in seconds. Authorization windows are measured by it, not by our clock. */
    headTimeS: async () => (await client.getBlock({ blockTag: 'latest' })).timestamp,
    /** Timestamp of a block, in seconds; null when the chain does not know the block. */
    async timeOfS(block: bigint): Promise<bigint | null> {
      const found = await findBlock(block);
      return found ? BigInt(found.timestamp) : null;
    },
    /** Hash of the block at a height in the current chain; null above the head. */
    hashAt: async (block: bigint): Promise<string | null> => (await findBlock(block))?.hash ?? null,
    /** ETH of an address, in wei. */
    gasBalanceOf: (address: string) => client.getBalance({ address: address as Hex }),
    /** Number of nonces that a key had used at the end of a block; without a block, at the newest that the RPC node has. */
    transactionCount: (address: string, atBlock?: bigint) =>
      client.getTransactionCount({
        address: address as Hex,
        ...(atBlock === undefined ? {} : { blockNumber: atBlock }),
      }),
    baseFeePerGas: async () => (await client.getBlock({ blockTag: 'latest' })).baseFeePerGas ?? 0n,
    dataPrices: (address: string) => readDataPrices(gatherer, address),
    /** True for an address with code: a contract, or a key that delegates to one (EIP-7702). */
    hasCode: async (address: string) => ((await gatherer.getCode({ address: address as Hex })) ?? '0x') !== '0x',
    /** Code of an address at the newest block; `0x`: none. */
    codeOf: async (address: string): Promise<Hex> =>
      (await gatherer.getCode({ address: address as Hex, blockNumber: await newest.read() })) ?? '0x',

    /** Gas that a transaction would use now, or the reason it would revert. Throws when only a node that is behind reports a revert. */
    async estimateGas(call: EstimatedCall): Promise<bigint | string> {
      const answer = await estimate(client, call);
      if (typeof answer !== 'string') return answer;
      if (typeof (await estimate(client, call, await newest.read())) !== 'string') throw new NodeBehindError();
      return answer;
    },

    /** True if a contract wallet accepts the signature of a digest in the current state (EIP-1271); false only by the newest block. */
    async hasContractSigned(address: string, digest: Hex, signature: string): Promise<boolean> {
      const asked = { address: address as Hex, digest, signature: signature as Hex };
      return (
        (await hasContractSigned(client, asked)) ||
        hasContractSigned(client, { ...asked, blockNumber: await newest.read() })
      );
    },

    /** Broadcasts raw bytes. Throws unless the chain confirms that it has the transaction or a better one under the same nonce. */
    async send(raw: string): Promise<SendAnswer> {
      try {
        await client.sendRawTransaction({ serializedTransaction: raw as Hex });
        return 'taken';
      } catch (error) {
        const answer = sendAnswerOf(String(error));
        if (answer === null) throw error;
        return answer;
      }
    },
  };
}

interface EstimatedCall {
  readonly from: string;
  readonly to: string;
  readonly data: Hex;
}

/** Gas of a transaction, or the reason it would revert; `blockNumber`: in the state of that block. */
async function estimate(client: PublicClient, call: EstimatedCall, blockNumber?: bigint): Promise<bigint | string> {
  const at = blockNumber === undefined ? {} : { blockNumber };
  try {
    return await client.estimateGas({ account: call.from as Hex, to: call.to as Hex, data: call.data, ...at });
  } catch (error) {
    if (error instanceof BaseError && error.walk((cause) => cause instanceof ExecutionRevertedError))
      return error.shortMessage;
    throw error;
  }
}

/**
 * A chain's non-fatal answer to raw bytes: accepted; already known; outbid by another transaction under the same nonce that pays as much;
 * or its nonce is already in a block.
 */
type SendAnswer = 'taken' | 'known' | 'outbid' | 'nonce used';

const answers: readonly (readonly [RegExp, SendAnswer])[] = [
  [/already (known|imported)|known transaction/i, 'known'],
  [/underpriced|could not replace/i, 'outbid'],
  [/nonce (is )?too low|nonce has already been used/i, 'nonce used'],
];

/** Classifies the message of an RPC error; null when it is none of these answers. */
export const sendAnswerOf = (message: string): SendAnswer | null =>
  answers.find(([words]) => words.test(message))?.[1] ?? null;
