import type { Hex } from 'viem';
import { createSender, type NodeWallet, type Sender } from './node-wallet.ts';

/** The keys that send transactions and pay their gas. All except the node's wallet have no other use. */
export interface HasSenders {
  readonly senders: readonly Sender[];
}

/** The key that writes to the registry and holds unclaimed tokens; null: this node does not write there. */
export interface HasRegistrar {
  readonly registrar: Sender | null;
}

/** The wallet followed by the further keys, without duplicates. */
export function createSenders(wallet: NodeWallet, keys: readonly Hex[]): Sender[] {
  const further = keys.map(createSender).filter(({ address }) => address !== wallet.address);
  return [wallet, ...new Map(further.map((sender) => [sender.address, sender])).values()];
}

/** All keys of the node that send transactions of any kind. */
export const keysOf = ({ senders, registrar }: HasSenders & HasRegistrar): Sender[] =>
  registrar ? [...senders, registrar] : [...senders];

export const senderOf = (ctx: HasSenders & HasRegistrar, address: string): Sender | undefined =>
  keysOf(ctx).find((sender) => sender.address === address);
