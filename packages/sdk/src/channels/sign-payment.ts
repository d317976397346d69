import { formatUsdc } from '@agent-network/contracts/money';
import { encodePaymentSignatureHeader } from '@x402/core/http';
import type { PaymentPayload } from '@x402/core/types';
import { PaymentRefusedError } from '../payment-refused-error.ts';
import { type Attempt, type BookedChannel, type CallInFlight, inFlightMicro, newRecord } from './channel-books.ts';
import { type ChannelRecord, larger } from './channel-record.ts';
import {
  channelIdOf,
  depositToSign,
  type Hex,
  randomBytes32,
  type SignedDeposit,
  voucherToSign,
} from './channel-signatures.ts';
import type { ChannelTerms } from './channel-terms.ts';
import type { ChannelWallet } from './channel-wallet.ts';

/** A deposit that ends sooner than this is not shown again: it could run out on its way. */
const shortestShownAgainS = 10;
/** A deposit that ended less than this ago may still be taken: the clocks of payer and chain differ, and a block takes its time. */
const clockMarginS = 60;
/** A receiver that advises no deposit gets this many prices. */
const usualCalls = 10n;

type Step =
  | { readonly header: string; readonly call: CallInFlight }
  /** Nothing was signed: another call has to be answered first. */
  | { readonly waitFor: Promise<void> };

const nowS = () => Math.floor(Date.now() / 1000);

/** True until a deposit of this end can no longer be taken. */
export const mayBeTaken = ({ validBeforeS }: Pick<SignedDeposit, 'validBeforeS'>): boolean =>
  validBeforeS + clockMarginS > nowS();

/** The books of a channel not used in this process yet, completed with its state on chain. */
async function readPast(wallet: ChannelWallet, record: ChannelRecord, chainId: number): Promise<ChannelRecord> {
  if (record.isKnown || record.boundMicro > 0n || !wallet.readChannel) return record;
  const { balanceMicro, claimedMicro } = await wallet.readChannel(chainId, record.channelId);
  const isKnown = balanceMicro === claimedMicro;
  return { ...record, isKnown, balanceMicro, chargedMicro: claimedMicro, boundMicro: claimedMicro };
}

/** The books of the channel that the terms ask for. Throws if that is another channel while this one still has money of the payer. */
function booksFor(wallet: ChannelWallet, channel: BookedChannel, { terms, url }: Attempt): ChannelRecord {
  const { record } = channel;
  const asked = channelIdOf({ ...record.config, ...terms.between }, terms.chainId);
  if (asked === record.channelId) return { ...record, url };
  const mayBePaidIn = record.deposit !== null && mayBeTaken(record.deposit);
  if (channel.inFlight.size > 0 || mayBePaidIn || record.balanceMicro > record.chargedMicro)
    throw new PaymentRefusedError(
      'other_channel_open',
      `The node asks for another channel while ${record.channelId} is open: close that one first`,
    );
  return newRecord(wallet.signer.address, terms, url, record.config.salt);
}

/** The chosen deposit, or the receiver's suggestion, within the limit. */
function depositSize(wallet: ChannelWallet, terms: ChannelTerms, neededMicro: bigint): bigint {
  const { minDepositMicro, priceMicro } = terms;
  const { largestDepositMicro } = wallet;
  if (neededMicro > largestDepositMicro)
    throw new PaymentRefusedError(
      'deposit_above_cap',
      `A deposit of ${formatUsdc(neededMicro)} USDC is needed, and ${formatUsdc(largestDepositMicro)} is the most allowed: nothing was paid`,
    );
  const advised = minDepositMicro > 0n ? minDepositMicro : usualCalls * priceMicro;
  const usual = wallet.depositMicro ?? advised;
  const size = usual > neededMicro ? usual : neededMicro;
  return size < largestDepositMicro ? size : largestDepositMicro;
}

/** The deposit to show: the one that is signed already while there is time to take it; a new one only when that one cannot be taken any more. */
async function depositFor(
  wallet: ChannelWallet,
  record: ChannelRecord,
  terms: ChannelTerms,
  neededMicro: bigint,
): Promise<SignedDeposit> {
  const { deposit } = record;
  if (deposit && mayBeTaken(deposit)) {
    const hasTime = deposit.validBeforeS > nowS() + shortestShownAgainS;
    if (hasTime && deposit.amountMicro >= neededMicro) return deposit;
    throw new PaymentRefusedError('deposit_unsettled', 'An earlier deposit is signed and may still be taken');
  }
  const unsigned = {
    amountMicro: depositSize(wallet, terms, neededMicro),
    salt: randomBytes32(),
    validBeforeS: nowS() + terms.offer.maxTimeoutSeconds,
  };
  const token = { ...terms.token, chainId: terms.chainId };
  const signature = await wallet.signer.signTypedData(depositToSign(record.channelId, record.config, token, unsigned));
  return { ...unsigned, signature };
}

/** The books after a deposit that expired without an answer: the chain shows if it was collected, if an RPC URL was given. */
async function settleDeposit(wallet: ChannelWallet, record: ChannelRecord, chainId: number): Promise<ChannelRecord> {
  const { deposit } = record;
  if (!deposit || mayBeTaken(deposit)) return record;
  const onChain = await wallet.readChannel?.(chainId, record.channelId);
  return { ...record, deposit: null, ...(onChain ? { balanceMicro: onChain.balanceMicro, refund: null } : {}) };
}

/** The header of a payment: a voucher, with a deposit or the request of a refund if there is one. */
export function paymentHeader(
  { answer, offer }: ChannelTerms,
  { config }: ChannelRecord,
  voucher: { readonly channelId: Hex; readonly maxMicro: bigint; readonly signature: Hex },
  extra: { readonly type: 'voucher' | 'refund' } | { readonly type: 'deposit'; readonly deposit: SignedDeposit },
): string {
  const { channelId, maxMicro, signature } = voucher;
  const payload = {
    type: extra.type,
    channelConfig: config,
    voucher: { channelId, maxClaimableAmount: maxMicro.toString(), signature },
    ...('deposit' in extra ? { deposit: depositOnTheWire(extra.deposit) } : {}),
  };
  const { resource, extensions } = answer;
  return encodePaymentSignatureHeader({
    x402Version: 2,
    accepted: offer,
    payload,
    ...(resource ? { resource } : {}),
    ...(extensions ? { extensions } : {}),
  } as PaymentPayload);
}

const depositOnTheWire = ({ amountMicro, salt, validBeforeS, signature }: SignedDeposit) => ({
  amount: amountMicro.toString(),
  authorization: {
    erc3009Authorization: { validAfter: '0', validBefore: validBeforeS.toString(), salt, signature },
  },
});

/** The call that has to be answered before this one can be paid; `undefined`: none. */
function callToWaitFor(channel: BookedChannel, isAlone: boolean, isShort: boolean): CallInFlight | undefined {
  const others = [...channel.inFlight.values()];
  return isAlone ? others[0] : others.find(({ deposit }) => isShort && deposit !== null);
}

function endOf(): Pick<CallInFlight, 'done' | 'end'> {
  let end = () => {};
  const done = new Promise<void>((resolve) => {
    end = resolve;
  });
  return { done, end };
}

const refusalsOf = ({ refusals, hasAskedChain }: Attempt) => ({ refusals, hasAskedChain });

/**
 * Signs one payment. The books are written down first with the price counted as spent: should the process end anywhere after that,
 * the next one knows of every voucher that may be out.
 */
export async function signPayment(wallet: ChannelWallet, channel: BookedChannel, attempt: Attempt): Promise<Step> {
  const { terms, url } = attempt;
  const { priceMicro, chainId } = terms;
  let record = await readPast(wallet, booksFor(wallet, channel, attempt), chainId);
  const expectedMicro = attempt.baseMicro ?? record.chargedMicro + inFlightMicro(channel);
  const maxMicro = (expectedMicro < record.boundMicro ? expectedMicro : record.boundMicro) + priceMicro;
  const isShort = record.isKnown && maxMicro > record.balanceMicro;
  const before = callToWaitFor(channel, channel.isSerial || !record.isKnown, isShort);
  if (before) return { waitFor: before.done };

  if (isShort) record = await settleDeposit(wallet, record, chainId);
  const neededMicro = maxMicro - record.balanceMicro;
  const isPaidIn = isShort && neededMicro > 0n;
  const deposit = isPaidIn ? await depositFor(wallet, record, terms, neededMicro) : null;
  await wallet.books.keep(channel, {
    ...record,
    boundMicro: record.boundMicro + priceMicro,
    signedMicro: larger(record.signedMicro, maxMicro),
    deposit: deposit ?? record.deposit,
  });
  const { channelId } = record;
  const signature = await wallet.signer.signTypedData(voucherToSign(channelId, chainId, maxMicro));
  const voucher = { channelId, maxMicro, signature };
  const header = paymentHeader(terms, record, voucher, deposit ? { type: 'deposit', deposit } : { type: 'voucher' });
  return { header, call: { url, terms, priceMicro, deposit, ...endOf(), ...refusalsOf(attempt) } };
}
