import { setTimeout as sleep } from 'node:timers/promises';
import { callChainBatch, type RpcCall } from '@agent-network/chain/chain-rpc-client';
import { usdcAbi } from '@agent-network/chain/usdc-abi';
import { encodeFunctionData, type Hex, keccak256 } from 'viem';
import type { TestWallet } from '../../support/harness.ts';
import type { TokenHost } from '../../support/x402-payer.ts';
import type { BankChain, PlainTransfer } from './bank-chain.ts';

/** Programs other than the node, on a chain that may die at any moment. Receipts that they saw are compared with the chain. */
export interface ThirdParties extends BankChain {
  /** A plain USDC transfer; resolves when its receipt was seen. */
  transfer(wallet: TestWallet, to: string, micro: bigint): Promise<PlainTransfer>;
  /** Differences between the chain and earlier receipts, in words. */
  contradictions(): Promise<string[]>;
  /** How many receipts were seen. */
  seen(): number;
}

interface Told {
  readonly hash: string;
  readonly blockNumber: string;
  readonly transactionIndex: string;
  readonly status: string;
  readonly timestamp: string;
}

type Receipt = Omit<Told, 'hash' | 'timestamp'> & { readonly transactionHash: string };

const RETRY_MS = 50;
const COMPARED_AT_ONCE = 500;
const FEES = { gas: 300_000n, gasPrice: 0n } as const;

export function createThirdParties(rpcUrl: string, host: TokenHost, node: { walletAddress: string }): ThirdParties {
  const { chainId, token } = host.ctx.chain;
  const told = new Map<string, Told>();
  const turns = new Map<string, Promise<unknown>>();

  /** Goes on until the chain is there to answer. */
  const askAll = async <Result>(calls: readonly RpcCall[]): Promise<Result[]> => {
    for (;;) {
      try {
        return (await callChainBatch(rpcUrl, calls)) as Result[];
      } catch (error) {
        if (error instanceof Error && error.name === 'ChainRpcError') throw error;
        await sleep(RETRY_MS);
      }
    }
  };
  const ask = async <Result>(...call: RpcCall): Promise<Result> => (await askAll<Result>([call]))[0] as Result;
  const readAll = async (hashes: readonly string[]): Promise<(Told | null)[]> => {
    const receipts = await askAll<Receipt | null>(hashes.map((hash): RpcCall => ['eth_getTransactionReceipt', hash]));
    const numbers = receipts.map((receipt) => receipt?.blockNumber ?? '0x0');
    const blocks = await askAll<{ timestamp: string } | null>(
      numbers.map((number): RpcCall => ['eth_getBlockByNumber', number, false]),
    );
    return receipts.map((receipt, index) => {
      if (!receipt) return null;
      const { transactionHash: hash, blockNumber, transactionIndex, status } = receipt;
      return { hash, blockNumber, transactionIndex, status, timestamp: blocks[index]?.timestamp ?? 'no block' };
    });
  };
  const read = async (hash: string): Promise<Told | null> => (await readAll([hash]))[0] ?? null;
  /** Sends the same bytes until their receipt arrives, and never again afterwards. */
  const send = async (raw: Hex): Promise<void> => {
    const hash = keccak256(raw);
    for (;;) {
      // The answer may have been lost with the chain: then it has the transaction already, and refuses it.
      await ask('eth_sendRawTransaction', raw).catch(() => undefined);
      const now = await read(hash);
      if (now) return void told.set(hash, now);
      await sleep(RETRY_MS);
    }
  };
  const inTurn = <T>(wallet: string, work: () => Promise<T>): Promise<T> => {
    const turn = (turns.get(wallet) ?? Promise.resolve()).then(work);
    turns.set(
      wallet,
      turn.catch(() => undefined),
    );
    return turn;
  };
  const call = (wallet: TestWallet, to: string, data: Hex) =>
    inTurn(wallet.address, async () => {
      const nonce = Number(await ask<Hex>('eth_getTransactionCount', wallet.address, 'latest'));
      const raw = await wallet.signTransaction({ chainId, to: to as Hex, data, nonce, ...FEES });
      await send(raw);
      return raw;
    });
  const transfer = async (wallet: TestWallet, to: string, micro: bigint): Promise<PlainTransfer> => {
    const data = encodeFunctionData({ abi: usdcAbi, functionName: 'transfer', args: [to as Hex, micro] });
    return { from: wallet.address.toLowerCase(), micro, raw: await call(wallet, token, data) };
  };

  return {
    transfer,
    sendPlainly: (wallet, micro) => transfer(wallet, node.walletAddress, micro),
    call: async (wallet, to, data) => void (await call(wallet, to, data)),
    submit: () => Promise.reject(new Error('these clients submit no payments themselves')),
    refuse: () => Promise.reject(new Error('the token of this chain refuses nobody')),
    accept: async () => undefined,
    reorganise: () => Promise.reject(new Error('this chain takes nothing back')),
    hasMoved: async ({ raw }) => (await read(keccak256(raw)))?.status === '0x1',
    seen: () => told.size,
    async contradictions() {
      const found: string[] = [];
      const all = [...told.values()];
      for (let start = 0; start < all.length; start += COMPARED_AT_ONCE) {
        const some = all.slice(start, start + COMPARED_AT_ONCE);
        const now = await readAll(some.map(({ hash }) => hash));
        for (const [index, before] of some.entries())
          if (JSON.stringify(now[index]) !== JSON.stringify(before))
            found.push(`a transaction was told as ${JSON.stringify(before)}, and is ${JSON.stringify(now[index])}`);
      }
      return found;
    },
  };
}
