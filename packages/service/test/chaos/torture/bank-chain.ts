import { callChain } from '@agent-network/chain/chain-rpc-client';
import { usdcAbi } from '@agent-network/chain/usdc-abi';
import { encodeFunctionData, type Hex, keccak256 } from 'viem';
import { submitPayment } from '../../support/chain-actions.ts';
import type { TestWallet } from '../../support/harness.ts';
import type { NodeCluster } from '../../support/node-cluster.ts';

/** USDC that a wallet sent to the node by a transaction of its own. */
export interface PlainTransfer {
  readonly from: string;
  readonly micro: bigint;
  readonly raw: Hex;
}

/** What clients and agents put on chain themselves, one after the other, and the blocks that are taken back between them. */
export interface BankChain {
  /** Submits what a payment header holds. */
  submit(headers: Record<string, string>): Promise<void>;
  sendPlainly(wallet: TestWallet, micro: bigint): Promise<PlainTransfer>;
  /** Takes back the newest blocks; who sent USDC in one of them sends the same transaction again. */
  reorganise(depth: number): Promise<void>;
  /** Whether the transfer is in a block, and moved its money. */
  hasMoved(transfer: PlainTransfer): Promise<boolean>;
}

/** A reorg reaches no further back. */
const KEPT = 30;

export function createBankChain(cluster: NodeCluster): BankChain {
  const { rpcUrl } = cluster.chain;
  const { chainId, token } = cluster.ctx.chain;
  let sent: PlainTransfer[] = [];
  let last: Promise<unknown> = Promise.resolve();
  const inTurn = <T>(work: () => Promise<T>): Promise<T> => {
    const turn = last.then(work);
    last = turn.catch(() => undefined);
    return turn;
  };
  const receiptOf = ({ raw }: PlainTransfer) =>
    callChain<{ status: string } | null>(rpcUrl, 'eth_getTransactionReceipt', keccak256(raw));
  const send = async (transfer: PlainTransfer) => {
    await callChain(rpcUrl, 'eth_sendRawTransaction', transfer.raw);
    while (!(await receiptOf(transfer))) await new Promise((resolve) => setImmediate(resolve));
  };
  return {
    submit: (headers) => inTurn(async () => void (await submitPayment(rpcUrl, cluster, headers))),
    sendPlainly: (wallet, micro) =>
      inTurn(async () => {
        const nonce = await callChain<Hex>(rpcUrl, 'eth_getTransactionCount', wallet.address, 'latest');
        const args = [cluster.walletAddress as Hex, micro] as const;
        const raw = await wallet.signTransaction({
          chainId,
          to: token as Hex,
          data: encodeFunctionData({ abi: usdcAbi, functionName: 'transfer', args }),
          gas: 100_000n,
          gasPrice: 0n,
          nonce: Number(nonce),
        });
        const transfer = { from: wallet.address.toLowerCase(), micro, raw };
        sent = [...sent, transfer].slice(-KEPT);
        await send(transfer);
        return transfer;
      }),
    reorganise: (depth) =>
      inTurn(async () => {
        await callChain(rpcUrl, 'anvil_reorg', depth, []);
        for (const transfer of sent) if (!(await receiptOf(transfer))) await send(transfer);
      }),
    hasMoved: async (transfer) => (await receiptOf(transfer))?.status === '0x1',
  };
}
