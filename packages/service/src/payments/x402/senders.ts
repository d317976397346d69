import type { Hex } from 'viem';
import { createSender, type NodeWallet, type Sender } from './node-wallet.ts';

/** The keys that send transactions and pay their gas. All but the node's wallet do nothing else. */
export interface HasSenders {
  readonly senders: readonly Sender[];
}

/** The wallet, and each further key once. */
export function createSenders(wallet: NodeWallet, keys: readonly Hex[]): Sender[] {
  const further = keys.map(createSender).filter(({ address }) => address !== wallet.address);
  return [wallet, ...new Map(further.map((sender) => [sender.address, sender])).values()];
}

export const senderOf = ({ senders }: HasSenders, address: string): Sender | undefined =>
  senders.find((sender) => sender.address === address);
