import type { HasChain } from '../../../chain/chain-info.ts';
import type { ShownVoucher } from '../payment-header.ts';
import type { HasChannels } from './channels.ts';
import { refusalOfVoucher } from './judge-voucher.ts';

/** True if a voucher of a funded channel is signed, and was in no claim that went on chain: whoever shows it has it from the payer. */
export async function isPrivateVoucher(ctx: HasChain & HasChannels, shown: ShownVoucher): Promise<boolean> {
  const { chain, channels } = ctx;
  const { voucher } = shown;
  if (!chain.channels || refusalOfVoucher(chain, chain.channels, shown, channels.compute(voucher))) return false;
  const channel = await channels.read(voucher.channelId);
  if (!channel || channel.balanceMicro === 0n) return false;
  return voucher.maxMicro > channel.publishedMicro && voucher.maxMicro > channel.claimedMicro;
}

/** True if a voucher covers what its channel is charged by now, calls in flight included: older ones do no more, once so much was charged. */
export async function isCurrentVoucher({ channels }: HasChannels, { voucher }: ShownVoucher): Promise<boolean> {
  const channel = await channels.read(voucher.channelId);
  return channel !== null && voucher.maxMicro >= channel.chargedMicro + channel.reservedMicro;
}
