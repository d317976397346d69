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
  /** A transaction of a wallet to a contract; it may revert. */
  call(wallet: TestWallet, to: string, data: Hex): Promise<void>;
  /** Takes back the newest blocks; who sent USDC in one of them sends the same transaction again. */
  reorganise(depth: number): Promise<void>;
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
  let last: Promise<unknown> = Promise.resolve();
  const inTurn = <T>(work: () => Promise<T>): Promise<T> => {
    const turn = last.then(work);
    last = turn.catch(() => undefined);
    return turn;
  };
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
  return {
    submit: (headers) => inTurn(async () => void (await submitPayment(rpcUrl, cluster, headers))),
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
      }),
    hasMoved: async (transfer) => (await receiptOf(transfer))?.status === '0x1',
  };
}
