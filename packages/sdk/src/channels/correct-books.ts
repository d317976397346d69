import { PaymentRefusedError } from '../payment-refused-error.ts';
import { type Attempt, type BookedChannel, type CallInFlight, freshRecord, inFlightMicro } from './channel-books.ts';
import { adoptSum, type ChannelRecord } from './channel-record.ts';
import { isVoucherOf, voucherToSign } from './channel-signatures.ts';
import { type ChannelTerms, stateInOffer, type ToldState } from './channel-terms.ts';
import type { ChannelWallet } from './channel-wallet.ts';
import type { ChannelOnChain } from './read-channel.ts';
import { mayBeTaken } from './sign-payment.ts';

const prefix = 'invalid_batch_settlement_evm_';
/** The voucher does not continue where the receiver counts from. */
const otherSum = ['cumulative_amount_mismatch', 'cumulative_below_claimed'];
/** The wallet holds less than the deposit. */
const noWalletMoney = 'insufficient_balance';
/** The channel holds too little, or nothing. */
const noMoney = ['channel_not_found', 'cumulative_exceeds_balance', noWalletMoney];
/** Maximum unproven refusals that the payer's own books answer before the chain is read. */
const ownBooksFirst = 4;
/** The receiver does not know the channel, or accepts no vouchers for it any more; another salt makes a new channel. */
const noChannel = 'missing_channel';

const unexplained = ({ channelId }: ChannelRecord) =>
  new PaymentRefusedError(
    'unexplained_sum',
    `The node counts more in channel ${channelId} than the calls of this payer may have cost. When another process pays from the same wallet, give each a salt of its own`,
  );

/** The sum that this payer's own signature proves; `null`: none. */
export async function provenSum(record: ChannelRecord, chainId: number, { signed }: ToldState): Promise<bigint | null> {
  if (!signed) return null;
  const voucher = voucherToSign(record.channelId, chainId, signed.maxMicro);
  return (await isVoucherOf(record.config.payerAuthorizer, voucher, signed.signature)) ? signed.maxMicro : null;
}

/**
 * The books with the chain's balance and claims. Claims above the possible cost of calls mean that the receiver cheats. A receiver that
 * reported a deposit which the chain does not have may hold it back, and collect it together with the next. The same holds after an
 * unanswered refund request, which does not explain the difference either.
 */
function adoptChain(record: ChannelRecord, { balanceMicro, claimedMicro }: ChannelOnChain): ChannelRecord {
  if (record.isKnown && claimedMicro > record.boundMicro) throw unexplained(record);
  const isShort = balanceMicro < record.balanceMicro;
  if (isShort && mayBeTaken({ validBeforeS: record.depositEndsS }))
    throw new PaymentRefusedError('deposit_unsettled', 'The chain does not have a deposit yet that may still be taken');
  const boundMicro = claimedMicro > record.boundMicro ? claimedMicro : record.boundMicro;
  const chargedMicro = claimedMicro > record.chargedMicro ? claimedMicro : record.chargedMicro;
  return { ...record, isKnown: true, boundMicro, chargedMicro, balanceMicro, refund: null };
}

/** True if this payer has money in the channel, or possibly on its way there. */
const holdsOurs = ({ record, inFlight }: BookedChannel): boolean =>
  inFlight.size > 0 || record.deposit !== null || record.balanceMicro > record.chargedMicro;

/** The sum of a corrective 402, once it is in the books; `null` when this payer has signed no voucher for it. */
async function adoptedSum(wallet: ChannelWallet, channel: BookedChannel, terms: ChannelTerms): Promise<bigint | null> {
  const { record } = channel;
  const told = stateInOffer(terms);
  const proven = await provenSum(record, terms.chainId, told);
  const adopted = adoptSum(record, told, proven, inFlightMicro(channel));
  if (adopted === 'unexplained') throw unexplained(record);
  if (adopted === 'unproven') return null;
  await wallet.books.keep(channel, adopted.record);
  return adopted.baseMicro;
}

/**
 * Corrects the books after a refused payment and resolves to the next attempt, or to `null` when another payment would not
 * help. Throws `PaymentRefusedError` when the receiver counts more than our own calls explain.
 */
export async function correctedBooks(
  wallet: ChannelWallet,
  channel: BookedChannel,
  call: CallInFlight,
  terms: ChannelTerms,
): Promise<Attempt | null> {
  const { record } = channel;
  const { url, hasAskedChain } = call;
  const again: Attempt = { terms, url, baseMicro: null, refusals: call.refusals + 1, hasAskedChain };
  const error = String(terms.answer.error ?? '');
  if (!error.startsWith(prefix)) return null;
  const reason = error.slice(prefix.length);

  if (reason === 'channel_busy') {
    channel.isSerial = true;
    return again;
  }
  if (reason === 'deposit_below_min_deposit')
    throw new PaymentRefusedError('deposit_above_cap', 'The node takes only larger deposits than are allowed');
  const openAnother = async () => {
    await wallet.books.keep(channel, freshRecord(wallet.signer.address, terms, url));
    return again;
  };
  if (reason === noChannel) return holdsOurs(channel) ? null : openAnother();
  if (otherSum.includes(reason)) {
    const baseMicro = await adoptedSum(wallet, channel, terms);
    if (baseMicro !== null) return { ...again, baseMicro };
    if (!record.isKnown && !wallet.readChannel) return openAnother();
    // A claim has just made this voucher public, so that the node tells nothing: the books know of calls that were paid since.
    if (record.isKnown && call.refusals < ownBooksFirst) return again;
  } else if (!noMoney.includes(reason)) return null;
  else if (await hasCorrectedBalance(wallet, channel, reason)) return again;
  return hasAskedChain ? null : askedChain(wallet, channel, again, otherSum.includes(reason));
}

/** Corrects the books of a channel with too low a balance; false when only the chain could help. */
async function hasCorrectedBalance(wallet: ChannelWallet, channel: BookedChannel, reason: string): Promise<boolean> {
  const { record } = channel;
  // A refund was asked for and made, and its answer was lost.
  const isRefunded = record.refund !== null && !wallet.readChannel && reason !== noWalletMoney;
  if (record.isKnown && !isRefunded) return false;
  const known = record.isKnown ? { balanceMicro: record.chargedMicro, refund: null } : { isKnown: true };
  await wallet.books.keep(channel, { ...record, ...known });
  return true;
}

/** The attempt after a read of the chain; `null` without an RPC URL. */
async function askedChain(
  wallet: ChannelWallet,
  channel: BookedChannel,
  again: Attempt,
  isOtherSum: boolean,
): Promise<Attempt | null> {
  if (!wallet.readChannel) return null;
  const onChain = await wallet.readChannel(again.terms.chainId, channel.record.channelId);
  await wallet.books.keep(channel, adoptChain(channel.record, onChain));
  return { ...again, hasAskedChain: true, baseMicro: isOtherSum ? onChain.claimedMicro : null };
}
