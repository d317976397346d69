import type { LockMode } from '../../../db/lock-free.ts';
import type { Tx } from '../../../db/sql.ts';
import { postTransfers, VOUCHERS } from '../../ledger/ledger-store.ts';
import { channelOf } from './channel.ts';
import { endCharges, lockFreeChannels } from './channel-store.ts';

/** A request that has ended, whatever paid for it. */
interface Ended {
  readonly id: string;
  readonly payerLedgerId: string | null;
  readonly costMicro: bigint | null;
  readonly refundMicro: bigint | null;
}

const isByVoucher = ({ payerLedgerId }: Ended): boolean => payerLedgerId !== null && channelOf(payerLedgerId) !== null;

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
  const charged = ended.filter(isByVoucher);
  if (charged.length === 0) return new Map();
  const channelIds = charged.flatMap(({ payerLedgerId }) => channelOf(payerLedgerId as string) ?? []);
  if (locks === 'skip') await lockFreeChannels(tx, channelIds);
  const ends = charged.map(({ id, costMicro }) => ({ requestId: id, costMicro: costMicro ?? 0n }));
  return endCharges(tx, ends, now);
}

/** Takes what requests did not cost out of the accounts of their channels: it is owed by no voucher. After their holds have ended. */
export async function releaseVouchers(
  tx: Tx,
  ended: readonly Ended[],
  now: Date,
  locks: LockMode = 'wait',
): Promise<void> {
  const unused = ended.flatMap(({ id, payerLedgerId, refundMicro, ...rest }) =>
    refundMicro && isByVoucher({ id, payerLedgerId, refundMicro, ...rest })
      ? [
          {
            id: `unused:${id}`,
            debit: payerLedgerId as string,
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
