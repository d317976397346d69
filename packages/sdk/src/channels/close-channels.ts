import { formatUsdc } from '@agent-network/contracts/money';
import { parseRetryAfterS, retryDelayMs } from '../retry-schedule.ts';
import { wait } from '../wait.ts';
import { type BookedChannel, inTurn } from './channel-books.ts';
import { adoptSum, type ChannelRecord } from './channel-record.ts';
import { channelIdOf, voucherToSign } from './channel-signatures.ts';
import { type ChannelTerms, stateInOffer, toldPayment } from './channel-terms.ts';
import type { ChannelWallet } from './channel-wallet.ts';
import { provenSum } from './correct-books.ts';
import { paymentHeader } from './sign-payment.ts';

/** A channel that was closed together with its receiver. Amounts are USDC. */
export interface ClosedChannel {
  readonly channelId: string;
  readonly network: string;
  /** Total cost of the channel's calls. */
  readonly charged: string;
  /** Amount refunded to the wallet. */
  readonly refunded: string;
  /** The transaction of the refund; `null` when there was nothing to refund. */
  readonly transaction: string | null;
}

type TermsOf = (header: string) => readonly ChannelTerms[];

const nothingThere = ['_refund_no_balance', '_missing_channel', '_channel_not_found'];
const maxCorrections = 3;
/** Over about a minute: a refund waits for the chain. */
const maxRepeats = 14;

/** A GET that is repeated while the server is away or not done; the same bytes each time. */
async function getRepeating(
  fetch: typeof globalThis.fetch,
  url: string,
  headers: Record<string, string>,
): Promise<Response> {
  for (let attempt = 0; ; attempt += 1) {
    const response = await fetch(url, { headers, signal: AbortSignal.timeout(60_000) }).catch((error: unknown) => {
      if (attempt >= maxRepeats) throw error;
      return null;
    });
    await response?.body?.cancel();
    const isPassing = !response || [429, 502, 503, 504].includes(response.status);
    if (response && (!isPassing || attempt >= maxRepeats)) return response;
    const retryAfterS = parseRetryAfterS(response?.headers.get('retry-after') ?? null, new Date());
    const delayMs = retryDelayMs(attempt, retryAfterS, Math.random);
    if (response && delayMs === null) return response;
    await wait(delayMs ?? 0, undefined);
  }
}

const failed = ({ channelId }: ChannelRecord, why: string): Error =>
  new Error(`Channel ${channelId} was not refunded: ${why}. What it holds can be withdrawn without the receiver`);

/** The offer of the server under which this very channel was opened. */
function ownOffer(
  { config, channelId }: ChannelRecord,
  response: Response,
  termsOf: TermsOf,
): ChannelTerms | undefined {
  const offers = termsOf(response.headers.get('payment-required') ?? '');
  return offers.find(({ between, chainId }) => channelIdOf({ ...config, ...between }, chainId) === channelId);
}

/** The books after a refund. A refund beyond their balance comes from a deposit with a lost answer. */
function afterRefund(record: ChannelRecord, refundedMicro: bigint): ChannelRecord {
  const left = record.balanceMicro - refundedMicro;
  if (left >= record.chargedMicro) return { ...record, balanceMicro: left, refund: null };
  return { ...record, balanceMicro: record.chargedMicro, deposit: null, refund: null };
}

type Refund = Pick<ClosedChannel, 'refunded' | 'transaction'>;

/** Books the refund that an answer reports; `null`: it reports none. */
async function bookRefund(wallet: ChannelWallet, channel: BookedChannel, response: Response): Promise<Refund | null> {
  const told = toldPayment(response.headers.get('payment-response'));
  if (!told) return null;
  const refundedMicro = told.amountMicro ?? 0n;
  await wallet.books.keep(channel, afterRefund(channel.record, refundedMicro));
  return { refunded: formatUsdc(refundedMicro), transaction: told.transaction || null };
}

/** The earlier refund with a lost answer, as another request would find nothing left. */
async function earlierRefund(
  wallet: ChannelWallet,
  channel: BookedChannel,
  fetch: typeof globalThis.fetch,
): Promise<Refund | null> {
  const { url, refund: header } = channel.record;
  if (header === null) return null;
  const response = await getRepeating(fetch, url, { 'payment-signature': header });
  const made = await bookRefund(wallet, channel, response);
  if (!made && response.status !== 402) throw failed(channel.record, `the answer was ${response.status}`);
  return made;
}

/**
 * Requests a refund with a voucher over the charged amount; corrected sums are adopted as for calls. The request is stored first, so that
 * it can be repeated unchanged if its answer is lost.
 */
async function refund(
  wallet: ChannelWallet,
  channel: BookedChannel,
  fetch: typeof globalThis.fetch,
  termsOf: TermsOf,
): Promise<Refund> {
  const earlier = await earlierRefund(wallet, channel, fetch);
  if (earlier && !mayHoldMoney(channel.record)) return earlier;
  let response = await getRepeating(fetch, channel.record.url, {});
  for (let corrections = 0; ; corrections += 1) {
    const terms = ownOffer(channel.record, response, termsOf);
    if (response.status !== 402 || !terms) throw failed(channel.record, `the answer was ${response.status}`);
    const error = String(terms.answer.error ?? 'no reason');
    if (nothingThere.some((reason) => error.endsWith(reason)))
      return earlier ?? { refunded: formatUsdc(0n), transaction: null };
    if (corrections > 0) await prepareAgain(wallet, channel, { terms, error, corrections });

    const { record } = channel;
    const voucher = voucherToSign(record.channelId, terms.chainId, record.chargedMicro);
    const signature = await wallet.signer.signTypedData(voucher);
    const signed = { channelId: record.channelId, maxMicro: record.chargedMicro, signature };
    const header = paymentHeader(terms, record, signed, { type: 'refund' });
    await wallet.books.keep(channel, { ...record, refund: header });
    response = await getRepeating(fetch, record.url, { 'payment-signature': header });
    const made = await bookRefund(wallet, channel, response);
    if (made) return made;
  }
}

/** After a refusal, with which nothing was refunded: waits while the channel is busy, or adopts the sum that the receiver named. */
async function prepareAgain(
  wallet: ChannelWallet,
  channel: BookedChannel,
  refused: { readonly terms: ChannelTerms; readonly error: string; readonly corrections: number },
): Promise<void> {
  const { terms, error, corrections } = refused;
  await wallet.books.keep(channel, { ...channel.record, refund: null });
  const isBusy = error.endsWith('_channel_busy');
  if (corrections > (isBusy ? maxRepeats : maxCorrections)) throw failed(channel.record, error);
  if (isBusy) return wait(retryDelayMs(corrections, undefined, Math.random) ?? 0, undefined);
  const told = stateInOffer(terms);
  const adopted = adoptSum(channel.record, told, await provenSum(channel.record, terms.chainId, told), 0n);
  if (typeof adopted === 'string') throw failed(channel.record, `${error} (${adopted})`);
  await wallet.books.keep(channel, adopted.record);
}

const mayHoldMoney = ({ isKnown, balanceMicro, chargedMicro, boundMicro, deposit }: ChannelRecord): boolean =>
  isKnown ? balanceMicro > chargedMicro || deposit !== null : boundMicro > 0n;

/** Waits for the calls in flight, then asks for the rest of the channel; `null` when it holds nothing. */
async function closeChannel(
  wallet: ChannelWallet,
  channel: BookedChannel,
  fetch: typeof globalThis.fetch,
  termsOf: TermsOf,
): Promise<ClosedChannel | null> {
  while (channel.inFlight.size > 0) await Promise.all([...channel.inFlight.values()].map(({ done }) => done));
  return inTurn(channel, async () => {
    if (!mayHoldMoney(channel.record)) return null;
    const refunded = await refund(wallet, channel, fetch, termsOf);
    const { channelId, network, chargedMicro: costMicro } = channel.record;
    return { channelId, network, charged: formatUsdc(costMicro), ...refunded };
  });
}

/** Refunds every channel of the books that holds money. Throws one `AggregateError` after all were tried when some were not. */
export async function closeChannels(
  wallet: ChannelWallet,
  fetch: typeof globalThis.fetch,
  termsOf: TermsOf,
): Promise<readonly ClosedChannel[]> {
  const channels = await wallet.books.all();
  const closing = channels.map((channel) => closeChannel(wallet, channel, fetch, termsOf));
  const outcomes = await Promise.allSettled(closing);
  const errors = outcomes.flatMap((outcome) => (outcome.status === 'rejected' ? [outcome.reason as unknown] : []));
  if (errors.length > 0) throw new AggregateError(errors, errors.map((error) => String(error)).join('; '));
  return outcomes.flatMap((outcome) => (outcome.status === 'fulfilled' && outcome.value ? [outcome.value] : []));
}
