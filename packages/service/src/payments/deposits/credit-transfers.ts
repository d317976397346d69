import { holdAccountsOfWallets } from '../../access/accounts/link-wallet.ts';
import type { Tx } from '../../db/sql.ts';
import { newId } from '../../lib/id.ts';
import { postTransfers } from '../ledger/ledger-store.ts';
import { openTreasuries } from '../ledger/open-treasury.ts';
import type { ChainContext } from '../onchain/chain-context.ts';
import type { NewChainPayment } from '../onchain/chain-payment.ts';
import { insertChainPayments } from '../onchain/chain-payment-store.ts';
import { endPayments } from '../onchain/end-payments.ts';
import { transfersOf } from '../onchain/payment-transfer.ts';
import { type ArrivedTransfer, newlyArrived } from '../x402/newly-arrived.ts';
import { openSuspenses, suspenseAccountId } from './suspense.ts';

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
  const strangers = transfers.map(({ from }) => from).filter((from) => !accountOf.has(from));
  await openSuspenses(tx, [...new Set(strangers)], now);
  const treasuryOf = await openTreasuries(tx, [...new Set(accountOf.values())], now);
  const payments = transfers.map((transfer) => {
    const accountId = accountOf.get(transfer.from) ?? null;
    const treasuryId = accountId && treasuryOf.get(accountId);
    return toDeposit(ctx, transfer, { accountId, ledgerAccountId: treasuryId ?? suspenseAccountId(transfer.from) });
  });
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
