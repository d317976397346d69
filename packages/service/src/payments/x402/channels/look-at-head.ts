import { AppError } from '../../../lib/app-error.ts';
import { until } from '../../../lib/concurrency/until.ts';
import type { ChainContext } from '../../onchain/chain-context.ts';
import type { NewVoucher } from './authorize-voucher.ts';
import { refreshChannels } from './chain/refresh-channels.ts';
import type { HasChannels } from './channels.ts';

/** All channels of a payer together may owe as much by vouchers that were taken without a look at the chain. */
const MOST_UNSEEN_MICRO = 1_000_000n;
const LOOK_WITHIN_MS = 5000;

/**
 * Reads a channel at the head before it admits a voucher by which its payer owes much: a withdrawal that is mined is in no block that the
 * follower of the contract has read yet. A reading counts for some seconds. Throws UNAVAILABLE when the chain does not answer: nothing is
 * taken then.
 */
export async function lookAtHead(
  ctx: ChainContext & HasChannels,
  { channelId, priceMicro }: Pick<NewVoucher, 'channelId' | 'priceMicro'>,
  payer: string,
): Promise<void> {
  const { channels } = ctx;
  if (channels.seen.has(channelId)) return;
  if ((await channels.owedBy(payer)) + priceMicro <= MOST_UNSEEN_MICRO) return;
  await channels.looks.run(channelId, async () => {
    if (channels.seen.has(channelId)) return;
    const look = async () => ((await refreshChannels(ctx, [channelId])) ? true : null);
    const isRead = await until(look, { timeoutMs: LOOK_WITHIN_MS, firstMs: 20, mostMs: 500 }).catch((cause) => {
      throw unseen(cause);
    });
    if (!isRead) throw unseen(new Error('the chain changed during each read'));
    channels.seen.set(channelId, true);
  });
}

const unseen = (cause: unknown): AppError =>
  new AppError(
    'UNAVAILABLE',
    'The chain does not answer, so the channel cannot be read now. Nothing was charged. Repeat the identical request.',
    {},
    { cause },
  );
