import type { PaymentHeaders } from '../api-error.ts';
import { retryDelayMs } from '../retry-schedule.ts';
import { wait } from '../wait.ts';
import { type Attempt, type BookedChannel, type CallInFlight, inTurn } from './channel-books.ts';
import { afterPayment, afterRefusal } from './channel-record.ts';
import { type ChannelTerms, toldPayment } from './channel-terms.ts';
import type { ChannelWallet } from './channel-wallet.ts';
import { correctedBooks } from './correct-books.ts';
import { signPayment } from './sign-payment.ts';

/** The answer to a payment. */
export interface PaidAnswer {
  readonly status: number;
  readonly paymentRequired: string | null;
  readonly paymentResponse: string | null;
  /** True if the payment was presented before. That attempt may have been accepted, even if this one is refused. */
  readonly mayHaveRun?: boolean;
}

export interface ChannelPayments {
  /** Signs a voucher for one call, with a deposit when the channel has too little left. */
  pay(terms: ChannelTerms, url: string): Promise<PaymentHeaders>;
  /** Books the answer to a payment; `null`: none is known. Resolves to the payment to show next, or to `null` when it ends here. */
  answered(
    payment: PaymentHeaders,
    answer: PaidAnswer | null,
    termsOf: (header: string) => ChannelTerms | null,
  ): Promise<PaymentHeaders | null>;
}

/** Parallel calls are corrected one after the other; a call that is refused more often than this gives up. */
const maxRefusals = 16;
/** From here on refused payments are spaced out. */
const quickRefusals = 4;

export function channelPayments(wallet: ChannelWallet): ChannelPayments {
  const shown = new Map<string, BookedChannel>();

  async function pay(attempt: Attempt): Promise<PaymentHeaders> {
    const channel = await wallet.books.of(attempt.terms, attempt.url);
    for (;;) {
      const step = await inTurn(channel, () => signPayment(wallet, channel, attempt));
      if ('waitFor' in step) {
        await step.waitFor;
        continue;
      }
      channel.inFlight.set(step.header, step.call);
      shown.set(step.header, channel);
      return { 'payment-signature': step.header };
    }
  }

  /** Books an answer; true when the payment was refused. One that may have been taken stays counted as spent. */
  async function book(channel: BookedChannel, call: CallInFlight, answer: PaidAnswer | null): Promise<boolean> {
    const told = toldPayment(answer?.paymentResponse ?? null);
    const isRefused = !told && answer?.status === 402 && !answer.mayHaveRun;
    if (told) await wallet.books.keep(channel, afterPayment(channel.record, call, told, channel.inFlight.size === 0));
    else if (isRefused) await wallet.books.keep(channel, afterRefusal(channel.record, call.priceMicro));
    return isRefused;
  }

  return {
    pay: (terms, url) => pay({ terms, url, baseMicro: null, refusals: 0, hasAskedChain: false }),
    async answered({ 'payment-signature': header }, answer, termsOf) {
      const channel = shown.get(header);
      shown.delete(header);
      if (!channel) return null;
      const again = await inTurn(channel, async () => {
        const call = channel.inFlight.get(header);
        channel.inFlight.delete(header);
        call?.end();
        if (!call || !(await book(channel, call, answer)) || call.refusals >= maxRefusals) return null;
        const terms = termsOf(answer?.paymentRequired ?? '');
        return terms && correctedBooks(wallet, channel, call, terms);
      });
      if (!again) return null;
      if (again.refusals > quickRefusals)
        await wait(retryDelayMs(again.refusals - quickRefusals, undefined, Math.random) ?? 0, undefined);
      return pay(again);
    },
  };
}
