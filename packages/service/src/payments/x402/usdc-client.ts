import { MULTICALL3_ADDRESS } from '@agent-network/chain/addresses';
import { multicall3Abi } from '@agent-network/chain/multicall3-abi';
import { usdcAbi } from '@agent-network/chain/usdc-abi';
import {
  createPublicClient,
  decodeAbiParameters,
  decodeFunctionResult,
  encodeFunctionData,
  type Hex,
  http,
  parseEventLogs,
  type TransactionReceipt,
} from 'viem';
import { type Authorization, splitSignature } from './authorization.ts';

export type SignedAuthorization = { authorization: Authorization; signature: string };

/** A transfer that an authorization caused, as the chain's logs tell. */
export interface UsedAuthorization {
  readonly transactionHash: string;
  readonly blockNumber: bigint;
  readonly to: string;
  readonly valueMicro: bigint;
}

export interface MinedTransaction {
  readonly blockNumber: bigint;
  readonly minedAtS: bigint;
  /** `from nonce` of every authorization that moved money in it, with where and how much. */
  readonly used: ReadonlyMap<string, UsedAuthorization>;
}

export const authorizationKey = (a: Pick<Authorization, 'from' | 'nonce'>): string => `${a.from} ${a.nonce}`;

/** Gas for one authorization: real USDC takes about 85,000 behind its proxy, a contract wallet's check comes on top. */
const GAS_EACH = 200_000n;
const GAS_BASE = 60_000n;

/** Calldata that submits one authorization. Contract wallets go through the overload that takes their signature as bytes. */
export function transferCall({ authorization: a, signature }: SignedAuthorization): Hex {
  const common = [a.from as Hex, a.to as Hex, a.valueMicro, a.validAfterS, a.validBeforeS, a.nonce as Hex] as const;
  const parts = splitSignature(signature);
  return parts
    ? encodeFunctionData({
        abi: usdcAbi,
        functionName: 'transferWithAuthorization',
        args: [...common, parts.v, parts.r, parts.s],
      })
    : encodeFunctionData({
        abi: usdcAbi,
        functionName: 'transferWithAuthorization',
        args: [...common, signature as Hex],
      });
}

const aggregate = (token: Hex, calls: readonly Hex[]): Hex =>
  encodeFunctionData({
    abi: multicall3Abi,
    functionName: 'aggregate3',
    args: [calls.map((callData) => ({ target: token, allowFailure: true, callData }))],
  });

/** The node's view of its chain: USDC, Multicall3 and raw transactions. Throws viem's errors when the chain can't be asked. */
export function createUsdcClient(options: { rpcUrl: string; token: string; timeoutMs?: number }) {
  const token = options.token as Hex;
  const client = createPublicClient({
    transport: http(options.rpcUrl, { timeout: options.timeoutMs ?? 10_000, retryCount: 1 }),
  });

  async function tryAll(calls: readonly Hex[], from?: string) {
    const { data } = await client.call({
      // The latest block may be old on a quiet chain; what is asked is what would happen now.
      blockTag: 'pending',
      to: MULTICALL3_ADDRESS as Hex,
      data: aggregate(token, calls),
      ...(from ? { account: from as Hex } : {}),
    });
    return decodeFunctionResult({ abi: multicall3Abi, functionName: 'aggregate3', data: data ?? '0x' });
  }

  /** Some nodes say it in the receipt, and save a question. */
  async function minedAt(receipt: { blockHash: string; blockTimestamp?: string | undefined }): Promise<bigint> {
    if (receipt.blockTimestamp !== undefined) return BigInt(receipt.blockTimestamp);
    return (await client.getBlock({ blockHash: receipt.blockHash as Hex })).timestamp;
  }

  return {
    chainId: () => client.getChainId(),
    headBlock: () => client.getBlockNumber(),
    /** The chain's own time, in seconds: what it measures windows by, whatever our clock says. */
    headTimeS: async () => (await client.getBlock({ blockTag: 'latest' })).timestamp,
    balanceOf: (address: string) =>
      client.readContract({ address: token, abi: usdcAbi, functionName: 'balanceOf', args: [address as Hex] }),
    gasBalanceOf: (address: string) => client.getBalance({ address: address as Hex }),
    transactionCount: (address: string) => client.getTransactionCount({ address: address as Hex }),

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

    /** Why each authorization would not move money if it were submitted now; null when it would. */
    async simulate(batch: readonly SignedAuthorization[]): Promise<(string | null)[]> {
      const results = await tryAll(batch.map(transferCall));
      return results.map(({ success, returnData }) => (success ? null : revertReason(returnData)));
    },

    /** For each authorization whether it was used or cancelled on chain. */
    async areSpent(batch: readonly Pick<Authorization, 'from' | 'nonce'>[]): Promise<boolean[]> {
      const results = await tryAll(
        batch.map(({ from, nonce }) =>
          encodeFunctionData({ abi: usdcAbi, functionName: 'authorizationState', args: [from as Hex, nonce as Hex] }),
        ),
      );
      return results.map(({ returnData }) => BigInt(returnData) !== 0n);
    },

    /** What to send for a batch: a lone authorization goes straight to the token, several through Multicall3. */
    transactionFor(batch: readonly SignedAuthorization[]): { to: Hex; data: Hex; gas: bigint } {
      const gas = GAS_BASE + GAS_EACH * BigInt(batch.length);
      const calls = batch.map(transferCall);
      if (calls.length === 1) return { to: token, data: calls[0] as Hex, gas };
      return { to: MULTICALL3_ADDRESS as Hex, data: aggregate(token, calls), gas };
    },

    async fees(): Promise<{ maxFeePerGas: bigint; maxPriorityFeePerGas: bigint }> {
      const block = await client.getBlock({ blockTag: 'latest' });
      const tip = 1_000_000n;
      return { maxFeePerGas: (block.baseFeePerGas ?? 0n) * 2n + tip, maxPriorityFeePerGas: tip };
    },

    /** Sends raw bytes. A transaction that the chain has already is no error. */
    async send(raw: string): Promise<void> {
      try {
        await client.sendRawTransaction({ serializedTransaction: raw as Hex });
      } catch (error) {
        if (!/already (known|imported)|nonce too low/i.test(String(error))) throw error;
      }
    },

    async findMined(hash: string): Promise<MinedTransaction | null> {
      const receipt = await client.request({ method: 'eth_getTransactionReceipt', params: [hash as Hex] });
      if (!receipt?.blockNumber) return null;
      const minedAtS = await minedAt(receipt);
      const used = usedIn(token, receipt.logs as unknown as TransactionReceipt['logs']);
      return { blockNumber: BigInt(receipt.blockNumber), minedAtS, used };
    },

    /** The transfer that a spent authorization caused, looked up in the logs since `fromBlock`; null when it was cancelled. */
    async findUse(authorization: Authorization, fromBlock: bigint): Promise<UsedAuthorization | null> {
      const logs = await client.getContractEvents({
        address: token,
        abi: usdcAbi,
        eventName: 'AuthorizationUsed',
        args: { authorizer: authorization.from as Hex, nonce: authorization.nonce as Hex },
        fromBlock,
      });
      const log = logs[0];
      if (!log) return null;
      const receipt = await client.getTransactionReceipt({ hash: log.transactionHash });
      return usedIn(token, receipt.logs).get(authorizationKey(authorization)) ?? null;
    },
  };
}

export type UsdcClient = ReturnType<typeof createUsdcClient>;
export interface HasUsdc {
  readonly usdc: UsdcClient;
}

/** Pairs each AuthorizationUsed with the Transfer that USDC logs right after it. */
function usedIn(token: string, logs: TransactionReceipt['logs']): Map<string, UsedAuthorization> {
  const used = new Map<string, UsedAuthorization>();
  const events = parseEventLogs({ abi: usdcAbi, logs: logs.filter((log) => log.address.toLowerCase() === token) });
  for (const [index, event] of events.entries()) {
    const transfer = events[index + 1];
    if (event.eventName !== 'AuthorizationUsed' || transfer?.eventName !== 'Transfer') continue;
    used.set(authorizationKey({ from: event.args.authorizer.toLowerCase(), nonce: event.args.nonce.toLowerCase() }), {
      transactionHash: event.transactionHash,
      blockNumber: BigInt(event.blockNumber),
      to: transfer.args.to.toLowerCase(),
      valueMicro: transfer.args.value,
    });
  }
  return used;
}

const ERROR_STRING_SELECTOR = '0x08c379a0';

function revertReason(data: Hex): string {
  if (!data.startsWith(ERROR_STRING_SELECTOR)) return 'reverted without a reason';
  return decodeAbiParameters([{ type: 'string' }], `0x${data.slice(10)}`)[0];
}
