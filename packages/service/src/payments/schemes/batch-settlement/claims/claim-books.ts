import type { ChannelOnChain, ReceiverTotals } from '../../../../chain/channels/settlement-contract-client.ts';
import { inAsset, type LedgerAsset } from '../../../ledger/asset-account.ts';
import { CLAIMED, LOSS, type NewTransfer, VOUCHERS, WALLET } from '../../../ledger/ledger-store.ts';
import type { BookedChannel, BookedReceiver } from './booking-store.ts';

export interface ChannelBooking {
  readonly channel: BookedChannel;
  readonly claimedDelta: bigint;
  readonly lossDelta: bigint;
  readonly transfers: readonly NewTransfer[];
}

/**
 * Booking that updates a channel's books to its state on chain; null: that was not read. A claim turns a voucher into a claimed amount.
 * Charges above balance and claims can never be claimed: they are a loss until a later deposit covers them.
 */
export function bookingOfChannel(
  booked: BookedChannel,
  onChain: ChannelOnChain | null,
  asset: LedgerAsset = null,
): ChannelBooking {
  const claimedMicro = onChain?.claimedMicro ?? booked.claimedMicro;
  const claimedDelta = claimedMicro - booked.claimedMicro;
  const reach = booked.balanceMicro > claimedMicro ? booked.balanceMicro : claimedMicro;
  const lostMicro = booked.chargedMicro > reach ? booked.chargedMicro - reach : 0n;
  const lossDelta = lostMicro - booked.lostMicro;
  const vouchers = inAsset(VOUCHERS, asset);
  const subjectId = booked.id;
  const turn = booked.booking + 1;
  const transfers = [
    moved(claimedDelta, inAsset(CLAIMED, asset), vouchers, {
      id: `voucher_claim:${booked.id}:${turn}`,
      kind: 'voucher_claim',
      subjectId,
    }),
    moved(lossDelta, inAsset(LOSS, asset), vouchers, {
      id: `voucher_loss:${booked.id}:${turn}`,
      kind: 'voucher_loss',
      subjectId,
    }),
  ].flat();
  const booking = transfers.length > 0 ? turn : booked.booking;
  return { channel: { ...booked, claimedMicro, lostMicro, booking }, claimedDelta, lossDelta, transfers };
}

/**
 * Bookings of the wallet as receiver: sweeps, and claims of unknown channels, which are gifts from strangers and go to suspense.
 * `receiver.knownMicro` counts the claims of the node's channels at the same block.
 */
export async function bookingOfReceiver(
  receiver: BookedReceiver,
  totals: ReceiverTotals,
  { asset = null, suspense }: { asset?: LedgerAsset; suspense: () => Promise<string> },
): Promise<{ next: BookedReceiver; transfers: NewTransfer[] }> {
  const foreignMicro = totals.claimedMicro - receiver.knownMicro;
  const foreignDelta = foreignMicro - receiver.foreignMicro;
  const sweptDelta = totals.sweptMicro - receiver.settledMicro;
  const turn = receiver.booking + 1;
  const claimed = inAsset(CLAIMED, asset);
  const subjectId = 'channels';
  const transfers = [
    foreignDelta === 0n
      ? []
      : moved(foreignDelta, claimed, await suspense(), {
          id: inAsset(`foreign_claim:${turn}`, asset),
          kind: 'voucher_claim',
          subjectId,
        }),
    moved(sweptDelta, inAsset(WALLET, asset), claimed, {
      id: inAsset(`sweep:${turn}`, asset),
      kind: 'sweep',
      subjectId,
    }),
  ].flat();
  const booking = transfers.length > 0 ? turn : receiver.booking;
  return { next: { ...receiver, foreignMicro, settledMicro: totals.sweptMicro, booking }, transfers };
}

/** A transfer of an amount, in the other direction when it is negative. */
const moved = (
  amountMicro: bigint,
  debit: string,
  credit: string,
  rest: Pick<NewTransfer, 'id' | 'kind' | 'subjectId'>,
): NewTransfer[] => {
  if (amountMicro === 0n) return [];
  return amountMicro > 0n
    ? [{ ...rest, debit, credit, amountMicro }]
    : [{ ...rest, debit: credit, credit: debit, amountMicro: -amountMicro }];
};
