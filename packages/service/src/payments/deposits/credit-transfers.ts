import { holdAccountsOfWallets } from '../../access/accounts/link-wallet.ts';
import type { IncomingTransfer } from '../../chain/incoming-transfer-client.ts';
import { transferNonce } from '../../chain/keys/node-wallet.ts';
import type { Tx } from '../../db/sql.ts';
import { newId } from '../../lib/id.ts';
import { postTransfers } from '../ledger/ledger-store.ts';
import { openTreasury } from '../ledger/open-treasury.ts';
import type { ChainContext } from '../onchain/chain-context.ts';
import type { NewChainPayment } from '../onchain/chain-payment.ts';
import { insertChainPayments } from '../onchain/chain-payment-store.ts';
import { endPayments } from '../onchain/end-payments.ts';
import { transfersOf } from '../onchain/payment-transfer.ts';
import { type ArrivedTransfer, newlyArrived } from '../x402/newly-arrived.ts';
import { openSuspense } from './suspense.ts';

/** Substitute nonce of a plain transfer, from its position on chain: it is credited once, however often it is read. */
export const nonceOfPlain = (chainId: number, transfer: IncomingTransfer): string =>
  transferNonce(chainId, transfer.transactionHash, transfer.ordinal);

/**
 * Credits USDC that arrived without a request, once per transfer, in the caller's transaction: to the treasury of the account that has
 * proven the sending wallet, otherwise to suspense, where its owner can claim it. A transfer that was reversed and is mined again is
 * credited again.
 */
export async function creditTransfers(ctx: ChainContext, tx: Tx, found: readonly ArrivedTransfer[]): Promise<void> {
  const transfers = await newlyArrived(ctx, tx, found);
  if (transfers.length === 0) return;
  const now = ctx.clock.now();
  const accountOf = await holdAccountsOfWallets(tx, [...new Set(transfers.map(({ from }) => from))]);
  const payments: NewChainPayment[] = [];
  for (const transfer of transfers) {
    const accountId = accountOf.get(transfer.from) ?? null;
    const ledgerAccountId = accountId
      ? await openTreasury(tx, accountId, now)
      : await openSuspense(tx, transfer.from, now);
    payments.push(toDeposit(ctx, transfer, { accountId, ledgerAccountId }));
  }
  const claimed = await insertChainPayments(tx, payments, now);
  const isNew = (payment: NewChainPayment) => claimed.has(payment.id);
  const news = payments.filter(isNew);
  const ends = payments.flatMap((payment, index) => {
    const { transactionHash, blockNumber, blockHash } = transfers[index] as ArrivedTransfer;
    if (!isNew(payment)) return [];
    return [{ id: payment.id, state: 'settled' as const, reason: null, transactionHash, blockNumber, blockHash }];
  });
  await endPayments(tx, news, ends, now);
  await postTransfers(tx, news.flatMap(transfersOf), now);
}

function toDeposit(
  ctx: ChainContext,
  { from, nonce, valueMicro }: ArrivedTransfer,
  to: { accountId: string | null; ledgerAccountId: string },
): NewChainPayment {
  const { chainId, token, wallet } = ctx.chain;
  return {
    id: newId('pay'),
    chainId,
    token,
    direction: 'in',
    purpose: 'deposit',
    subjectId: newId('trf'),
    ...to,
    // The transfer has happened: there is no authorization left to submit.
    authorization: { from, to: wallet, valueMicro, validAfterS: 0n, validBeforeS: 0n, nonce },
    signature: '0x',
    fingerprint: null,
    x402Version: null,
  };
}
