import { holdAccountsOfWallets } from '../../accounts/link-wallet.ts';
import type { NodeIdentity } from '../../chain/chain-info.ts';
import type { IncomingTransfer } from '../../chain/incoming-transfer-client.ts';
import { nonceOfReturned } from '../../chain/keys/payment-nonces.ts';
import { authorizationKey } from '../../chain/used-authorizations.ts';
import { newId } from '../../lib/id.ts';
import type { Tx } from '../../store/sql.ts';
import { transfersOf } from '../chain-outbox/book-settled.ts';
import type { ChainContext } from '../chain-outbox/chain-context.ts';
import type { NewChainPayment } from '../chain-outbox/chain-payment.ts';
import { insertChainPayments } from '../chain-outbox/chain-payment-store.ts';
import { findPaymentsByNonce, type KnownPayment, relocateCredited } from '../chain-outbox/credited-transfer-store.ts';
import { endPayments } from '../chain-outbox/end-payments.ts';
import { postTransfers } from '../ledger/ledger-store.ts';
import { openTreasuries } from '../ledger/open-treasury.ts';
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
  const { ledgerAsset } = ctx.chain;
  await openSuspenses(tx, [...new Set(strangers)], now, ledgerAsset);
  const treasuryOf = await openTreasuries(tx, [...new Set(accountOf.values())], now, ledgerAsset);
  const payments = transfers.map((transfer) => {
    const accountId = accountOf.get(transfer.from) ?? null;
    const treasuryId = accountId && treasuryOf.get(accountId);
    const ledgerAccountId = treasuryId ?? suspenseAccountId(transfer.from, ledgerAsset);
    return toDeposit(ctx, transfer, { accountId, ledgerAccountId });
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

type ArrivedTransfer = Pick<
  IncomingTransfer,
  'from' | 'valueMicro' | 'transactionHash' | 'blockNumber' | 'blockHash'
> & {
  /** Unique key of the transfer: the nonce of its authorization, or for a plain transfer its position on chain. */
  readonly nonce: string;
};

/**
 * The transfers that are not booked yet, each with the nonce to credit it under. Booked ones are updated to their current block. A transfer
 * that was reversed after a reorg and is mined again is another payment: its nonce is derived from the previous one, so that it too is
 * credited once, however often it is read.
 */
async function newlyArrived(
  ctx: Pick<NodeIdentity, 'chain'>,
  tx: Tx,
  transfers: readonly ArrivedTransfer[],
): Promise<ArrivedTransfer[]> {
  const arrived: ArrivedTransfer[] = [];
  let open = transfers;
  while (open.length > 0) {
    await relocateCredited(tx, ctx.chain, open);
    const known = await findPaymentsByNonce(tx, ctx.chain, open);
    const knownOf = (transfer: ArrivedTransfer) => known.get(authorizationKey(transfer));
    arrived.push(...open.filter((transfer) => !knownOf(transfer)));
    open = open
      .filter((transfer) => isOver(knownOf(transfer), transfer))
      .map((transfer) => ({ ...transfer, nonce: nonceOfReturned(transfer.nonce) }));
  }
  return arrived;
}

/**
 * True if the known payment is not this transfer: it was reversed, a contract transferred another amount after a reorg, or it is a channel
 * deposit signed under the same nonce.
 */
const isOver = (known: KnownPayment | undefined, { valueMicro }: ArrivedTransfer): boolean =>
  known !== undefined &&
  (known.state === 'reversed' || known.valueMicro !== valueMicro || known.direction === 'channel');
