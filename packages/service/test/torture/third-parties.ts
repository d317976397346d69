import { setTimeout as sleep } from 'node:timers/promises';
import { callChain } from '@agent-network/chain/chain-rpc-client';
import { usdcAbi } from '@agent-network/chain/usdc-abi';
import { encodeFunctionData, type Hex, keccak256 } from 'viem';
import type { TestWallet } from '../support/harness.ts';
import type { TokenHost } from '../support/x402-payer.ts';
import type { BankChain, PlainTransfer } from './bank-chain.ts';

/** Programs that are not the node's, on a chain that may die at any moment. What they were told of a transaction is held against the chain. */
export interface ThirdParties extends BankChain {
  /** A plain USDC transfer; resolves when its receipt was seen. */
  transfer(wallet: TestWallet, to: string, micro: bigint): Promise<PlainTransfer>;
  /** What the chain says otherwise than it said before, in words. */
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

const RETRY_MS = 50;
const FEES = { gas: 300_000n, gasPrice: 0n } as const;

export function createThirdParties(rpcUrl: string, host: TokenHost, node: { walletAddress: string }): ThirdParties {
  const { chainId, token } = host.ctx.chain;
  const told = new Map<string, Told>();
  const turns = new Map<string, Promise<unknown>>();

  /** Goes on until the chain is there to answer. */
  const ask = async <Result>(method: string, ...params: unknown[]): Promise<Result> => {
    for (;;) {
      try {
        return await callChain<Result>(rpcUrl, method, ...params);
      } catch (error) {
        if (error instanceof Error && error.name === 'ChainRpcError') throw error;
        await sleep(RETRY_MS);
      }
    }
  };
  const read = async (hash: string): Promise<Told | null> => {
    const receipt = await ask<Told | null>('eth_getTransactionReceipt', hash);
    if (!receipt) return null;
    const { blockNumber, transactionIndex, status } = receipt;
    const block = await ask<{ timestamp: string } | null>('eth_getBlockByNumber', blockNumber, false);
    return { hash, blockNumber, transactionIndex, status, timestamp: block?.timestamp ?? 'no block' };
  };
  /** Sends the same bytes until their receipt is seen; once it was, nobody sends them again. */
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
  const call = (wallet: TestWallet, data: Hex) =>
    inTurn(wallet.address, async () => {
      const nonce = Number(await ask<Hex>('eth_getTransactionCount', wallet.address, 'latest'));
      const raw = await wallet.signTransaction({ chainId, to: token as Hex, data, nonce, ...FEES });
      await send(raw);
      return raw;
    });
  const transfer = async (wallet: TestWallet, to: string, micro: bigint): Promise<PlainTransfer> => {
    const data = encodeFunctionData({ abi: usdcAbi, functionName: 'transfer', args: [to as Hex, micro] });
    return { from: wallet.address.toLowerCase(), micro, raw: await call(wallet, data) };
  };

  return {
    transfer,
    sendPlainly: (wallet, micro) => transfer(wallet, node.walletAddress, micro),
    submit: () => Promise.reject(new Error('these clients submit no payments themselves')),
    reorganise: () => Promise.reject(new Error('this chain takes nothing back')),
    hasMoved: async ({ raw }) => (await read(keccak256(raw)))?.status === '0x1',
    seen: () => told.size,
    async contradictions() {
      const found: string[] = [];
      for (const before of told.values()) {
        const now = await read(before.hash);
        if (JSON.stringify(now) !== JSON.stringify(before))
          found.push(`a transaction was told as ${JSON.stringify(before)}, and is ${JSON.stringify(now)}`);
      }
      return found;
    },
  };
}
