import type { LocalChain } from '@agent-network/chain/local-chain';
import { usdcAbi } from '@agent-network/chain/usdc-abi';
import { createPublicClient, http } from 'viem';
import type { TestPurchase } from './purchase.ts';

/** Payments of a wallet and refunds to it, as the chain has them. */
export interface Moved {
  readonly payments: number;
  readonly paidMicro: bigint;
  readonly refunds: number;
  readonly refundedMicro: bigint;
}

export const chainReader = (chain: LocalChain) => createPublicClient({ transport: http(chain.rpcUrl) });

/** Counts the transfers of each payer's wallet since a block; the money that the wallet was given before is not among them. */
export async function readPayments(
  chain: LocalChain,
  purchases: readonly TestPurchase[],
  fromBlock: bigint,
): Promise<Map<string, Moved>> {
  const logs = await chainReader(chain).getContractEvents({
    address: chain.usdc,
    abi: usdcAbi,
    eventName: 'Transfer',
    fromBlock,
    strict: true,
  });
  const nothing: Moved = { payments: 0, paidMicro: 0n, refunds: 0, refundedMicro: 0n };
  const byPayer = new Map(purchases.map(({ payer }) => [payer as string, nothing]));
  for (const { args } of logs) {
    const from = args.from.toLowerCase();
    const to = args.to.toLowerCase();
    const paid = byPayer.get(from);
    if (paid) byPayer.set(from, { ...paid, payments: paid.payments + 1, paidMicro: paid.paidMicro + args.value });
    const back = byPayer.get(to);
    if (back) byPayer.set(to, { ...back, refunds: back.refunds + 1, refundedMicro: back.refundedMicro + args.value });
  }
  return byPayer;
}
