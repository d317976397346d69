import { setTimeout as sleep } from 'node:timers/promises';
import { callChain } from '@agent-network/chain/chain-rpc-client';
import { usdcAbi } from '@agent-network/chain/usdc-abi';
import { encodeFunctionData, type Hex, keccak256 } from 'viem';
import { createSemaphore } from '../../../src/lib/concurrency/semaphore.ts';
import { submitPayment } from '../../support/chain-actions.ts';
import type { TestWallet } from '../../support/harness.ts';
import { administer } from '../../support/held-payout.ts';
import type { NodeCluster } from '../../support/node-cluster.ts';

/** USDC that a wallet sent to the node by a transaction of its own. */
export interface PlainTransfer {
  readonly from: string;
  readonly micro: bigint;
  readonly raw: Hex;
}

/** Transactions of clients and agents, one after the other, with reorgs in between. */
export interface BankChain {
  /** Submits what a payment header holds. */
  submit(headers: Record<string, string>): Promise<void>;
  sendPlainly(wallet: TestWallet, micro: bigint): Promise<PlainTransfer>;
  /** A transaction of a wallet to a contract; it may revert. */
  call(wallet: TestWallet, to: string, data: Hex): Promise<void>;
  /** Takes back the newest blocks; who sent USDC in one of them sends the same transaction again. */
  reorganise(depth: number): Promise<void>;
  /** The token refuses the node's wallet, or everybody, until it accepts both again. */
  refuse(what: 'pause' | 'blacklist'): Promise<void>;
  accept(): Promise<void>;
  /** Whether the transfer is in a block, and moved its money. */
  hasMoved(transfer: PlainTransfer): Promise<boolean>;
}

type Sent = Pick<PlainTransfer, 'raw'>;

/** A reorg reaches no further back. */
const KEPT = 30;

export function createBankChain(cluster: NodeCluster): BankChain {
  const { rpcUrl } = cluster.chain;
  const { chainId, token } = cluster.ctx.chain;
  let sent: Sent[] = [];
  const { run: inTurn } = createSemaphore();
  const receiptOf = ({ raw }: Sent) =>
    callChain<{ status: string } | null>(rpcUrl, 'eth_getTransactionReceipt', keccak256(raw));
  const send = async (transaction: Sent) => {
    await callChain(rpcUrl, 'eth_sendRawTransaction', transaction.raw);
    while (!(await receiptOf(transaction))) await new Promise((resolve) => setImmediate(resolve));
  };
  /** Signs a call of a wallet and sends it; a reorg sends it again. */
  const call = async (wallet: TestWallet, to: string, data: Hex): Promise<Hex> => {
    const nonce = await callChain<Hex>(rpcUrl, 'eth_getTransactionCount', wallet.address, 'latest');
    const fees = { gas: 300_000n, gasPrice: 0n };
    const raw = await wallet.signTransaction({ chainId, to: to as Hex, data, nonce: Number(nonce), ...fees });
    sent = [...sent, { raw }].slice(-KEPT);
    await send({ raw });
    return raw;
  };
  let isRefusing = false;
  const administered = { rpcUrl, ctx: cluster.ctx };
  const acceptAll = async () => {
    await administer(administered, 'unpause');
    await administer(administered, 'unBlacklist', cluster.walletAddress);
  };
  return {
    refuse: (what) =>
      inTurn(async () => {
        isRefusing = true;
        await administer(administered, what, cluster.walletAddress);
      }),
    accept: () =>
      inTurn(async () => {
        isRefusing = false;
        await acceptAll();
      }),
    async submit(headers) {
      /** False: the token refused it for a cause that passes. */
      const trySubmit = () =>
        submitPayment(rpcUrl, cluster, headers).then(
          () => true,
          (error) => {
            if (!isRefusing) throw error;
            return false;
          },
        );
      while (!(await inTurn(trySubmit))) await sleep(50);
    },
    sendPlainly: (wallet, micro) =>
      inTurn(async () => {
        const args = [cluster.walletAddress as Hex, micro] as const;
        const data = encodeFunctionData({ abi: usdcAbi, functionName: 'transfer', args });
        return { from: wallet.address.toLowerCase(), micro, raw: await call(wallet, token, data) };
      }),
    call: (wallet, to, data) => inTurn(async () => void (await call(wallet, to, data))),
    reorganise: (depth) =>
      inTurn(async () => {
        await callChain(rpcUrl, 'anvil_reorg', depth, []);
        for (const transfer of sent) if (!(await receiptOf(transfer))) await send(transfer);
        // The reorg may have taken back that the token accepts the wallet again.
        if (!isRefusing) await acceptAll();
      }),
    hasMoved: async (transfer) => (await receiptOf(transfer))?.status === '0x1',
  };
}
