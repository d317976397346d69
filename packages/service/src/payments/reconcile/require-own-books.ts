import { type HasChain, isOwnWallet } from '../../chain/chain-info.ts';
import type { HasDb } from '../../db/database.ts';
import { listOtherChains, listWallets } from './own-books-store.ts';

/** Chain and books contradict each other: continuing would pay with money that does not exist, or owe it twice. */
export class ChainMismatchError extends Error {
  override name = 'ChainMismatchError';
}

/**
 * Compares chain and wallet of the books with the configured ones. Throws ChainMismatchError when there is another: on another chain the
 * balances of the books are other money, and USDC that the former wallet sends to the new one would be credited to whoever has its key. A
 * former wallet that the operator names is taken. Books without payments are anybody's.
 */
export async function requireOwnBooks({ db, chain }: HasDb & HasChain): Promise<void> {
  const [other] = await listOtherChains(db, chain.chainId);
  if (other !== undefined)
    throw new ChainMismatchError(
      `The books of this database are of chain ${other}, but CHAIN_ID is ${chain.chainId}. ` +
        `Set CHAIN_ID=${other}, or give the node of the other chain a database of its own; nothing was changed.`,
    );
  const others = (await listWallets(db, chain)).filter((address) => !isOwnWallet(chain, address));
  if (others.length === 0) return;
  const named = [...(chain.formerWallets ?? []), ...others].join(',');
  throw new ChainMismatchError(
    `The books of this database are of the wallet ${others.join(', ')}, but SETTLEMENT_PRIVATE_KEY is the key of ${chain.wallet}. ` +
      'Start with the key of that wallet. If you have changed the wallet and moved its USDC to the new one, say so: ' +
      `FORMER_WALLETS=${named} (docs/operating-a-node.md, "Another wallet"); nothing was changed.`,
  );
}
