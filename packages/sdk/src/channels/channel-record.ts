import type { ChannelConfig, Hex, SignedDeposit } from './channel-signatures.ts';
import type { ToldPayment, ToldState } from './channel-terms.ts';

/**
 * The payer's own books of one channel. `boundMicro` protects against a lying receiver: the maximum cost of all calls so far. It rises by
 * the price of each call before the voucher is signed, falls only when the receiver reports that a call cost less, and no voucher above it
 * is signed.
 */
export interface ChannelRecord {
  readonly network: string;
  readonly channelId: Hex;
  readonly config: ChannelConfig;
  /** URL of the last payment, where a refund is requested. */
  readonly url: string;
  /** False as long as the channel may have a past that these books do not know. */
  readonly isKnown: boolean;
  /** Deposits less refunds. Claims do not lower it. */
  readonly balanceMicro: bigint;
  /** Cost of the ended calls, as reported by the receiver. */
  readonly chargedMicro: bigint;
  readonly boundMicro: bigint;
  /** The highest signed voucher: the receiver can claim up to it, regardless of the outcome of its call. */
  readonly signedMicro: bigint;
  /** A signed deposit that is not known to be collected: presented again while valid, instead of signing another. */
  readonly deposit: SignedDeposit | null;
  /**
   * Latest expiry, in Unix seconds, of the deposits that the receiver reported as accepted: until then it can still collect one that the
   * chain does not have. 0: none.
   */
  readonly depositEndsS: number;
  /** Header of a requested refund with an unknown outcome; presenting it again gets the same answer. */
  readonly refund: string | null;
}

const hex = (length: number) => new RegExp(`^0x[0-9a-f]{${length}}$`, 'i');

export function serializeRecord(record: ChannelRecord): string {
  return JSON.stringify(record, (_name, value) => (typeof value === 'bigint' ? value.toString() : value));
}

/** Parses the output of `serializeRecord`. Throws for anything else, as unreadable books must not be replaced by empty ones. */
export function parseRecord(text: string): ChannelRecord {
  const { balanceMicro, chargedMicro, boundMicro, signedMicro, deposit, refund, ...rest } = JSON.parse(text);
  const record: ChannelRecord = {
    ...rest,
    balanceMicro: BigInt(balanceMicro),
    chargedMicro: BigInt(chargedMicro),
    boundMicro: BigInt(boundMicro),
    deposit: deposit ? { ...deposit, amountMicro: BigInt(deposit.amountMicro) } : null,
    // Books of before have none of these.
    depositEndsS: rest.depositEndsS ?? 0,
    signedMicro: BigInt(signedMicro ?? boundMicro),
    refund: refund ?? null,
  };
  if (!hex(64).test(record.channelId) || !hex(40).test(record.config?.payer) || typeof record.url !== 'string')
    throw new TypeError('not the record of a channel');
  return record;
}

export const larger = (a: bigint, b: bigint | null): bigint => (b !== null && b > a ? b : a);

const endOf = (deposit: SignedDeposit | null): number => deposit?.validBeforeS ?? 0;

/**
 * The books after a call that the receiver accepted: charges its stated cost, at most its price. The balance rises by the call's deposit
 * unless it is already booked. A larger balance is accepted only for a channel without known history.
 */
export function afterPayment(
  record: ChannelRecord,
  call: { readonly priceMicro: bigint; readonly deposit: SignedDeposit | null },
  told: ToldPayment,
  isAlone: boolean,
): ChannelRecord {
  const { priceMicro, deposit } = call;
  const costMicro = told.chargedMicro !== null && told.chargedMicro <= priceMicro ? told.chargedMicro : priceMicro;
  const boundMicro = record.boundMicro - priceMicro + costMicro;
  const saidMicro = told.state.chargedMicro;
  const countedMicro = record.chargedMicro + costMicro;
  const ownMicro = countedMicro < boundMicro ? countedMicro : boundMicro;
  const isNew = deposit !== null && deposit.salt === record.deposit?.salt;
  const paidInMicro = record.balanceMicro + (isNew ? deposit.amountMicro : 0n);
  return {
    ...record,
    isKnown: true,
    boundMicro,
    chargedMicro: isAlone && saidMicro !== null && saidMicro <= boundMicro ? saidMicro : ownMicro,
    balanceMicro: record.isKnown ? paidInMicro : larger(paidInMicro, told.state.balanceMicro),
    deposit: deposit ? null : record.deposit,
    depositEndsS: Math.max(record.depositEndsS, endOf(deposit)),
  };
}

/** The books after a call that the receiver refused: it costs nothing. */
export const afterRefusal = (record: ChannelRecord, priceMicro: bigint): ChannelRecord => ({
  ...record,
  boundMicro: record.boundMicro - priceMicro,
  chargedMicro:
    record.chargedMicro < record.boundMicro - priceMicro ? record.chargedMicro : record.boundMicro - priceMicro,
});

export type Adopted =
  | { readonly record: ChannelRecord; readonly baseMicro: bigint }
  /** This payer has signed no voucher for the sum. */
  | 'unproven'
  /** More than our own calls may have cost. */
  | 'unexplained';

/**
 * Adopts the sum of a receiver's correction into the books. It needs a voucher of this payer for at least that much, and must be within the
 * possible cost of its own calls. Books without history use the voucher's own sum as that bound, as the receiver can claim it already. The
 * stated balance is adopted as far as this payer's deposits explain it.
 */
export function adoptSum(
  record: ChannelRecord,
  told: ToldState,
  provenMicro: bigint | null,
  inFlightMicro: bigint,
): Adopted {
  const { chargedMicro: sumMicro } = told;
  if (sumMicro === null || provenMicro === null || sumMicro > provenMicro) return 'unproven';
  const boundMicro = record.isKnown ? record.boundMicro : larger(record.boundMicro, provenMicro);
  if (sumMicro > boundMicro) return 'unexplained';
  const { deposit } = record;
  const paidInMicro = record.balanceMicro + (deposit?.amountMicro ?? 0n);
  const isTaken = deposit !== null && (told.balanceMicro ?? 0n) >= paidInMicro;
  const depositEndsS = Math.max(record.depositEndsS, isTaken ? endOf(deposit) : 0);
  const corrected = { ...record, isKnown: true, boundMicro, deposit: isTaken ? null : deposit, depositEndsS };
  const toldMicro = larger(record.balanceMicro, told.balanceMicro);
  const balanceMicro = record.isKnown && toldMicro > paidInMicro ? paidInMicro : toldMicro;
  const chargedMicro = endedPart(record.chargedMicro, sumMicro, inFlightMicro);
  return { record: { ...corrected, balanceMicro, chargedMicro }, baseMicro: sumMicro };
}

/** The part of the sum for ended calls. The rest is for calls of this payer that the receiver has accepted and not answered. */
function endedPart(chargedMicro: bigint, sumMicro: bigint, inFlightMicro: bigint): bigint {
  if (inFlightMicro === 0n || sumMicro < chargedMicro) return sumMicro;
  return larger(chargedMicro, sumMicro - inFlightMicro);
}
