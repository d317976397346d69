import type { LockMode } from '../../../store/lock-free.ts';
import type { Tx } from '../../../store/sql.ts';
import { takeKeys } from '../exact/claim-payments.ts';
import type { NewVoucher } from './authorize-voucher.ts';
import type { Channel } from './channel.ts';
import type { ChannelRefusal } from './channel-refusal.ts';
import { lockChannels, lockFreeChannels, reserveCharges } from './channel-store.ts';
import { judgeVoucher, type VoucherJudgement } from './judge-voucher.ts';

export type VoucherAdmission =
  | { readonly kind: 'admitted' }
  /** The request exists, or another one has a key of it. */
  | { readonly kind: 'claimed' }
  | { readonly kind: 'voucher_refused'; readonly reason: ChannelRefusal; readonly isCorrected: boolean };

/**
 * Admits vouchers in the caller's transaction: locks their channels in order, judges each voucher against its channel's charged and
 * reserved amounts, and reserves the prices. Vouchers of one channel are ordered by their sums, so calls that a payer signed ahead may
 * arrive in any order. Three statements for a batch, regardless of the number of channels.
 */
export async function admitVouchers(
  tx: Tx,
  vouchers: readonly NewVoucher[],
  now: Date,
  locks: LockMode = 'wait',
): Promise<ReadonlyMap<string, VoucherAdmission>> {
  const admissions = new Map<string, VoucherAdmission>();
  if (vouchers.length === 0) return admissions;
  const channelIds = [...new Set(vouchers.map(({ channelId }) => channelId))];
  const accountIds = vouchers.map(({ payerLedgerId }) => payerLedgerId);
  if (locks === 'skip') await lockFreeChannels(tx, accountIds);
  const channels = await lockChannels(tx, channelIds);
  const judged = judgeAll(channels, vouchers, admissions);
  const kept = await takeKeys(
    tx,
    judged.map(({ requestId: id, accountId, purchaseKeys }) => ({ id, accountId, purchaseKeys })),
    now,
  );
  const free = judged.filter(({ requestId }) => kept.has(requestId));
  const reserved = free.length === 0 ? new Set<string>() : await reserveCharges(tx, free, now);
  for (const { requestId } of judged)
    admissions.set(requestId, reserved.has(requestId) ? { kind: 'admitted' } : { kind: 'claimed' });
  return admissions;
}

/** False while another call of the channel is in turn: one that took its sum now would leave that one with a wrong sum. */
const isTurnOf = (channel: Channel | null, requestId: string): boolean =>
  !channel || channel.turnRequestId === null || channel.turnRequestId === requestId;

const outOfTurn: VoucherJudgement = {
  kind: 'refused',
  reason: 'invalid_batch_settlement_evm_cumulative_amount_mismatch',
  isCorrected: true,
};

function judgeAll(
  channels: ReadonlyMap<string, Channel>,
  vouchers: readonly NewVoucher[],
  admissions: Map<string, VoucherAdmission>,
): NewVoucher[] {
  const reserved = new Map<string, bigint>();
  return vouchers
    .toSorted((a, b) => (a.maxMicro < b.maxMicro ? -1 : Number(a.maxMicro > b.maxMicro)))
    .filter((voucher) => {
      const { channelId, requestId, priceMicro } = voucher;
      const channel = channels.get(channelId) ?? null;
      const ahead = reserved.get(channelId) ?? 0n;
      const judged = channel && { ...channel, reservedMicro: channel.reservedMicro + ahead };
      const judgement = judgeVoucher(judged, voucher);
      const isInTurn = ahead > 0n || isTurnOf(channel, requestId);
      const answer = judgement.kind === 'admitted' && !isInTurn ? outOfTurn : judgement;
      if (answer.kind === 'admitted') reserved.set(channelId, ahead + priceMicro);
      else admissions.set(requestId, { ...answer, kind: 'voucher_refused' });
      return answer.kind === 'admitted';
    });
}
