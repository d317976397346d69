import { MULTICALL3_ADDRESS } from '@agent-network/chain/addresses';
import { multicall3Abi } from '@agent-network/chain/multicall3-abi';
import { usdcAbi } from '@agent-network/chain/usdc-abi';
import {
  createPublicClient,
  decodeAbiParameters,
  decodeFunctionResult,
  encodeFunctionData,
  type Hex,
  type PublicClient,
  type TransactionReceipt,
} from 'viem';
import { createNewestBlock, type NewestBlock, NodeBehindError, readsOf } from './chain-reads.ts';
import type { Authorization } from './keys/authorization.ts';
import { rpcTransport } from './rpc/rpc-transport.ts';
import { aggregate, type ContractCall, paymentCall, type SignedAuthorization } from './settlement-call.ts';
import { authorizationKey, type BlockReference, type UsedAuthorization, usedIn } from './used-authorizations.ts';

export interface MinedTransaction {
  readonly hash: string;
  readonly blockNumber: bigint;
  readonly blockHash: string;
  /** Index in the block. */
  readonly index: number;
  readonly minedAtS: bigint;
  readonly gasUsed: bigint;
  /** Wei that it cost: its gas and, on a rollup, the fee of the chain below. */
  readonly costWei: bigint;
  /** False for a transaction that was mined and reverted. */
  readonly hasSucceeded: boolean;
  readonly logs: TransactionReceipt['logs'];
  /** Transfers made by its authorizations, by `authorizationKey`. */
  readonly used: ReadonlyMap<string, UsedAuthorization>;
}

/** Use or cancellation of an authorization, according to the chain's logs. */
export type SpentAuthorization = UsedAuthorization | { readonly cancelledIn: BlockReference };

/** Calls combined into one; some RPC providers limit the gas of an eth_call. */
const MAX_IN_ONE_CALL = 200;

/** The node's view of its chain: USDC, Multicall3 and raw transactions. Throws viem's errors when the chain does not answer. */
export function createUsdcClient(options: { rpcUrl: string; token: string; timeoutMs?: number }) {
  const token = options.token as Hex;
  const transport = { timeout: options.timeoutMs ?? 10_000, retryCount: 1 };
  const client = createPublicClient({ transport: rpcTransport(options.rpcUrl, transport) });
  /** Batches reads of the same moment into one request. */
  const gatherer = createPublicClient({
    transport: rpcTransport(options.rpcUrl, { ...transport, batch: { batchSize: 50 } }),
  });
  const newest = createNewestBlock(gatherer);

  return {
    ...readsOf(client, gatherer, newest),
    ...authorizationsOf(client, token, newest),
    ...refusalsOf(client, token),
    ...receiptsOf(client, token),
    balanceOf: (address: string) =>
      client.readContract({ address: token, abi: usdcAbi, functionName: 'balanceOf', args: [address as Hex] }),

    async readToken() {
      const read = (functionName: 'name' | 'version' | 'DOMAIN_SEPARATOR') =>
        client.readContract({ address: token, abi: usdcAbi, functionName });
      const [name, version, domainSeparator] = await Promise.all([
        read('name'),
        read('version'),
        read('DOMAIN_SEPARATOR'),
      ]);
      return { name, version, domainSeparator: domainSeparator as Hex };
    },
  };
}

/** The results of calls, each of which may fail by itself. */
async function tryAll(client: PublicClient, calls: readonly ContractCall[], at: At) {
  const { data } = await client.call({ ...at, to: MULTICALL3_ADDRESS as Hex, data: aggregate(calls) });
  return decodeFunctionResult({ abi: multicall3Abi, functionName: 'aggregate3', data: data ?? '0x' });
}

const refusalsOf = (client: PublicClient, token: Hex) => ({
  /**
   * For each address: the reason that the token would move nothing from or to it now, or at the end of a block, for any payer (a pause, a
   * blacklist); null if it would. Simulates a transfer of zero from the address to itself.
   */
  async whyRefused(addresses: readonly string[], blockNumber?: bigint): Promise<(string | null)[]> {
    const probes = addresses.map((address) => probeCall(token, address));
    const at: At = blockNumber === undefined ? { blockTag: 'pending' } : { blockNumber };
    return (await tryAll(client, probes, at)).map(reasonOf);
  },
});

/** Reads the present or past state of authorizations. */
function authorizationsOf(client: PublicClient, token: Hex, newest: NewestBlock) {
  const areSpent = spentOf(client, token, newest);

  const findEvents = (
    eventName: 'AuthorizationUsed' | 'AuthorizationCanceled',
    { from, nonce }: Pick<Authorization, 'from' | 'nonce'>,
    range: { fromBlock: bigint; toBlock: bigint },
  ) =>
    client.getContractEvents({
      address: token,
      abi: usdcAbi,
      eventName,
      args: { authorizer: from as Hex, nonce: nonce as Hex },
      ...range,
    });

  return {
    /**
     * For each payment: the reason it would not move money if all were submitted now in this order, or null if it would. Throws when only an
     * RPC node that is behind refuses one.
     */
    async simulate(batch: readonly SignedAuthorization[]): Promise<(string | null)[]> {
      const calls = batch.map((signed) => paymentCall(token, signed));
      // The pending block, because on a quiet chain the latest one may be old.
      const [height, ...results] = await tryAll(client, [heightCall, ...calls], { blockTag: 'pending' });
      const answers = results.map(reasonOf);
      if (!answers.some(isOfState)) return answers;
      const head = await newest.read();
      // Above the head: the next block, with what waits for it. At the head: a node without a pending block, or one that is a block behind.
      // Below it: a node that is behind, which does not have the head; or a chain whose contracts see another number (Arbitrum: Ethereum's).
      const asOf = BigInt(height?.returnData ?? 0);
      if (asOf > head) return answers;
      const atHead = await tryAll(client, calls, { blockNumber: head }).catch((error: unknown) => {
        throw asOf < head ? new NodeBehindError() : error;
      });
      if (answers.some((reason, index) => isOfState(reason) && atHead[index]?.success)) throw new NodeBehindError();
      return answers;
    },

    /**
     * For each authorization: true if it was used or cancelled by the end of a block; without one, by the newest. Throws when the node does
     * not have the block: one that is behind has not seen that an authorization is unused. null: no answer about this one, which says
     * nothing about the others.
     */
    areSpent,

    /** True if one authorization is spent, see `areSpent`. Throws when the RPC node does not answer about it. */
    async isSpent(authorization: Pick<Authorization, 'from' | 'nonce'>, atBlock?: bigint): Promise<boolean> {
      const [isSpent = null] = await areSpent([authorization], atBlock);
      if (isSpent === null) throw new Error('the RPC node does not tell whether an authorization is spent');
      return isSpent;
    },

    /** Finds the use or cancellation of an authorization in a range of blocks; null when the logs there do not have it. */
    async findSpent(
      authorization: Pick<Authorization, 'from' | 'nonce'>,
      range: { fromBlock: bigint; toBlock: bigint },
    ): Promise<SpentAuthorization | null> {
      const [log] = await findEvents('AuthorizationUsed', authorization, range);
      if (log) {
        const receipt = await client.getTransactionReceipt({ hash: log.transactionHash });
        return usedIn(token, receipt.logs).get(authorizationKey(authorization)) ?? null;
      }
      const [cancelled] = await findEvents('AuthorizationCanceled', authorization, range);
      if (!cancelled) return null;
      const { blockNumber, blockHash } = cancelled;
      return { cancelledIn: { blockNumber, blockHash } };
    },
  };
}

type At = { blockTag: 'pending' } | { blockNumber?: bigint };
type Tried = readonly { readonly success: boolean; readonly returnData: string }[];

const spentOf =
  (client: PublicClient, token: Hex, newest: NewestBlock) =>
  async (batch: readonly Pick<Authorization, 'from' | 'nonce'>[], atBlock?: bigint): Promise<(boolean | null)[]> => {
    const at = { blockNumber: atBlock ?? (await newest.read()) };
    const spent: (boolean | null)[] = [];
    for (let start = 0; start < batch.length; start += MAX_IN_ONE_CALL) {
      const calls = batch.slice(start, start + MAX_IN_ONE_CALL).map((each) => stateCall(token, each));
      spent.push(...(await tryAll(client, calls, at)).map(readState));
    }
    return spent;
  };

const WORD_LENGTH = 66;

/** The answer of `authorizationState`: a word. null for anything else, as an RPC node without the state gives it. */
const readState = ({ success, returnData }: Tried[number]): boolean | null =>
  success && returnData.length === WORD_LENGTH ? BigInt(returnData) !== 0n : null;

function receiptsOf(client: PublicClient, token: Hex) {
  /** Block timestamp. Some RPC providers include it in the receipt, which saves a request. */
  async function minedAt(receipt: { blockHash: string; blockTimestamp?: string | undefined }): Promise<bigint> {
    if (receipt.blockTimestamp !== undefined) return BigInt(receipt.blockTimestamp);
    return (await client.getBlock({ blockHash: receipt.blockHash as Hex })).timestamp;
  }

  async function findReceipt(hash: string): Promise<MinedTransaction | null> {
    const receipt = await client.request({ method: 'eth_getTransactionReceipt', params: [hash as Hex] });
    if (!receipt?.blockNumber) return null;
    const logs = receipt.logs as unknown as TransactionReceipt['logs'];
    const { blockHash, transactionIndex } = receipt;
    const place = { blockNumber: BigInt(receipt.blockNumber), blockHash, index: Number(transactionIndex) };
    const hasSucceeded = receipt.status === '0x1';
    const gasUsed = BigInt(receipt.gasUsed);
    const costWei = gasUsed * BigInt(receipt.effectiveGasPrice ?? 0) + BigInt((receipt as { l1Fee?: Hex }).l1Fee ?? 0);
    const at = { ...place, minedAtS: await minedAt(receipt) };
    return { hash, ...at, gasUsed, costWei, hasSucceeded, logs, used: usedIn(token, logs) };
  }

  return {
    /** The mined one of several transactions that exclude one another; null when none is. */
    async findMined(hashes: readonly string[]): Promise<MinedTransaction | null> {
      for (const hash of hashes) {
        const mined = await findReceipt(hash);
        if (mined) return mined;
      }
      return null;
    },
  };
}

/** Asks the token whether an authorization was used or cancelled. */
function stateCall(token: Hex, { from, nonce }: Pick<Authorization, 'from' | 'nonce'>): ContractCall {
  const args = [from as Hex, nonce as Hex] as const;
  return { target: token, callData: encodeFunctionData({ abi: usdcAbi, functionName: 'authorizationState', args }) };
}

function probeCall(token: Hex, address: string): ContractCall {
  const args = [address as Hex, address as Hex, 0n] as const;
  return { target: token, callData: encodeFunctionData({ abi: usdcAbi, functionName: 'transferFrom', args }) };
}

export type UsdcClient = ReturnType<typeof createUsdcClient>;

const ERROR_STRING_SELECTOR = '0x08c379a0';
/** Failure text of a call that reverted without a reason; usually it ran out of gas. */
export const NO_REASON = 'reverted without a reason';

/** True for a refusal that another state may contradict. */
const isOfState = (reason: string | null): boolean => reason !== null && !TIME_OR_GAS.test(reason);

/** Asks the height of the block that calls are answered by. */
const heightCall: ContractCall = {
  target: MULTICALL3_ADDRESS as Hex,
  callData: encodeFunctionData({ abi: multicall3Abi, functionName: 'getBlockNumber' }),
};

/** Refusals that the state of the newest block cannot contradict: its time is an older one, and in a batch others use up the gas. */
const TIME_OR_GAS = new RegExp(`not yet valid|expired|${NO_REASON}`, 'i');

/** True for the reason with which the token refuses an authorization that was used or cancelled before. */
export const isUsedBefore = (reason: string): boolean => /used or canceled/i.test(reason);

const reasonOf = ({ success, returnData }: { success: boolean; returnData: Hex }): string | null =>
  success ? null : revertReason(returnData);

function revertReason(data: Hex): string {
  if (data === '0x') return NO_REASON;
  if (!data.startsWith(ERROR_STRING_SELECTOR)) return `reverted with the error ${data.slice(0, 10)}`;
  return decodeAbiParameters([{ type: 'string' }], `0x${data.slice(10)}`)[0];
}
