import { type Connection, headerOf, openConnection, requestText } from './http-connection.ts';
import type { ChannelJob, LoadResult } from './load-jobs.ts';
import { measure } from './measure.ts';
import { type ChannelOffer, type NativeChannel, openNativeChannel } from './native-channel.ts';
import { decode, encode, readOffers, responseHeader } from './paid-job.ts';
import { requireAnswer } from './plain-job.ts';

const WARM_UP_SECONDS = 0.5;
const DEPOSIT_ATTEMPTS = 10;

interface Caller {
  readonly connection: Connection;
  readonly key: `0x${string}`;
  channel: NativeChannel | null;
  chargedMicro: bigint;
  calls: number;
}

interface Settled {
  readonly success: boolean;
  readonly errorMessage?: string;
  readonly extra?: {
    readonly chargedAmount?: string;
    readonly channelState?: { readonly chargedCumulativeAmount?: string };
  };
}

const unsettled: Settled = { success: false };

/**
 * Pays one call after the other by vouchers, each caller through a channel of its own: unpaid, 402, signed repeat, result. The first call of
 * a channel brings its deposit, before the clock runs. Every answer has to say that exactly the price was charged.
 */
export async function runChannelJob(job: ChannelJob): Promise<LoadResult> {
  const url = new URL(job.request.url);
  const callers = await Promise.all(
    job.payerKeys.slice(0, job.callers).map(async (key): Promise<Caller> => {
      return { connection: await openConnection(url), key, channel: null, chargedMicro: 0n, calls: 0 };
    }),
  );
  const pay = async (index: number) => {
    const caller = callers[index];
    if (!caller) throw new Error('a caller without a channel');
    if (job.callsEach !== undefined && caller.calls >= job.callsEach) return false;
    await payOnce(job, caller);
    return true;
  };
  try {
    if (job.depositsInTurn) for (const caller of callers) await depositInTurn(job, caller);
    else await Promise.all(callers.map((caller) => payOnce(job, caller)));
    if (job.callsEach === undefined) await measure(pay, { ...job, seconds: WARM_UP_SECONDS });
    const measured = await measure(pay, job);
    return { ...measured, chargedMicro: String(callers.reduce((sum, { chargedMicro }) => sum + chargedMicro, 0n)) };
  } finally {
    for (const { connection } of callers) connection.close();
  }
}

/** A wallet of the peer that has lost count of its transactions says so: nothing was paid, and the deposit is made once more. */
async function depositInTurn(job: ChannelJob, caller: Caller): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    try {
      await payOnce(job, caller);
      return;
    } catch (error) {
      if (!(error instanceof UnsettledError && /nonce/i.test(error.message)) || attempt === DEPOSIT_ATTEMPTS)
        throw error;
    }
  }
}

/** The peer could not settle, and says why. */
class UnsettledError extends Error {}

async function payOnce(job: ChannelJob, caller: Caller): Promise<void> {
  const { resource, accepts } = await readOffers<ChannelOffer>(caller.connection, requestText(job.request));
  const accepted = accepts.find(({ scheme }) => scheme === 'batch-settlement');
  if (!accepted) throw new Error('no channel is asked for');
  const priceMicro = BigInt(accepted.amount);
  const isFirst = caller.calls === 0;
  caller.channel ??= openNativeChannel(caller.key, accepted);
  const maxMicro = caller.chargedMicro + priceMicro;
  const payload = caller.channel.payload(maxMicro, isFirst ? BigInt(job.depositMicro) : undefined);
  const headers = {
    ...job.request.headers,
    'payment-signature': encode({ x402Version: 2, resource, accepted, payload }),
  };
  const answer = await caller.connection.send(requestText({ ...job.request, headers }));
  const settled = headerOf(answer.head, responseHeader);
  const { success, extra, errorMessage } = settled === null ? unsettled : (decode(settled) as Settled);
  if (!success && errorMessage !== undefined) throw new UnsettledError(errorMessage);
  requireAnswer(answer, { status: 200, includes: job.includes });
  const charged = [extra?.chargedAmount, extra?.channelState?.chargedCumulativeAmount];
  if (!success || charged[0] !== String(priceMicro) || charged[1] !== String(maxMicro))
    throw new Error(`charged ${charged.join(' of ')} for a voucher of ${maxMicro}`);
  caller.chargedMicro = maxMicro;
  caller.calls += 1;
}
