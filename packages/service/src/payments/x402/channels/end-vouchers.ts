import type { LockMode } from '../../../db/lock-free.ts';
import type { Tx } from '../../../db/sql.ts';
import { postTransfers, VOUCHERS } from '../../ledger/ledger-store.ts';
import type { Payer } from '../../ledger/scheme-id.ts';
import { payingChannel } from './channel.ts';
import { endCharges, lockFreeChannels } from './channel-store.ts';

/** A request that a channel paid for, and that has ended. */
interface Ended extends Payer {
  readonly id: string;
  readonly costMicro: bigint | null;
  readonly refundMicro: bigint | null;
}

/**
 * Charges the channels of ended requests with what these cost and frees the rest of their prices, in the caller's transaction, before
 * accounts of the ledger. Returns the paying wallets by request.
 */
export async function endVouchers(
  tx: Tx,
  ended: readonly Ended[],
  now: Date,
  locks: LockMode = 'wait',
): Promise<ReadonlyMap<string, string>> {
  if (ended.length === 0) return new Map();
  const channelIds = ended.flatMap((each) => payingChannel(each) ?? []);
  if (locks === 'skip') await lockFreeChannels(tx, channelIds);
  const ends = ended.map(({ id, costMicro }) => ({ requestId: id, costMicro: costMicro ?? 0n }));
  return endCharges(tx, ends, now);
}

/** Takes what requests did not cost out of the accounts of their channels: it is owed by no voucher. After their holds have ended. */
export async function releaseVouchers(
  tx: Tx,
  ended: readonly Ended[],
  now: Date,
  locks: LockMode = 'wait',
): Promise<void> {
  const unused = ended.flatMap(({ id, payerLedgerId, refundMicro }) =>
    refundMicro && payerLedgerId !== null
      ? [
          {
            id: `unused:${id}`,
            debit: payerLedgerId,
            credit: VOUCHERS,
            amountMicro: refundMicro,
            kind: 'voucher_release' as const,
            subjectId: id,
          },
        ]
      : [],
  );
  await postTransfers(tx, unused, now, locks);
}
