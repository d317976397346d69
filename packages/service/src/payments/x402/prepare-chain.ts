import { formatUsdc } from '@agent-network/contracts/money';
import { sumWallet } from '../ledger-store.ts';
import type { ChainContext } from './chain-context.ts';
import { countMined, registerSigner } from './transaction-store.ts';

/** The chain and the ledger contradict each other: to go on would be to pay with money that is not there. */
export class ChainMismatchError extends Error {
  override name = 'ChainMismatchError';
}

/**
 * Compares the chain with what this node has recorded, and makes the signer's nonces known. Throws ChainMismatchError, and so
 * keeps the node from starting, when the chain lacks transactions that were in a block, or the wallet holds less than the
 * ledger says.
 */
export async function prepareChain(ctx: ChainContext): Promise<void> {
  const { address } = ctx.wallet;
  const key = { chainId: ctx.chain.chainId, signer: address };
  const count = await ctx.usdc.transactionCount(address);
  const mined = await countMined(ctx.db, key);
  if (BigInt(count) < mined)
    throw new ChainMismatchError(
      `The chain knows ${count} transactions of ${address}, but ${mined} had been mined: it is another chain, or lost blocks. ` +
        'Restore the state of the chain that belongs to this database; nothing was changed.',
    );
  const [holds, owes] = await Promise.all([ctx.usdc.balanceOf(address), sumWallet(ctx.db)]);
  if (holds < owes)
    throw new ChainMismatchError(
      `The wallet ${address} holds ${formatUsdc(holds)} USDC on chain ${key.chainId}, but the ledger counts on ${formatUsdc(owes)}. ` +
        'Restore the missing USDC, or the state of the chain that belongs to this database; nothing was changed.',
    );
  await registerSigner(ctx.db, key, count);
}
