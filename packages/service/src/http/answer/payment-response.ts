import type { PaymentReceipt } from '@agent-network/contracts/payments/receipt-types';
import type { SettleResponse } from '@agent-network/contracts/payments/x402';
import { type NodeIdentity, networkNamesOf } from '../../chain/chain-info.ts';
import type { NodeKeys } from '../../chain/keys/node-keys.ts';
import { paymentReceiptDigest } from '../../chain/keys/receipt-digests.ts';
import type { LedgerAsset } from '../../payments/ledger/asset-account.ts';
import { toChannelState } from '../../payments/schemes/batch-settlement/channel.ts';
import type { ChannelServices } from '../../payments/schemes/batch-settlement/channel-services.ts';
import { encode } from './errors.ts';

/** The delivery that a payment bought, with its time. */
export interface Delivery {
  readonly resourceUrl: string;
  readonly at: Date;
}

interface Paid {
  readonly payer: string;
  readonly version: 1 | 2;
  readonly transactionHash: string;
  /** The asset that paid; null: the default one. */
  readonly asset: LedgerAsset;
  /** null: not delivered yet, or not at all. */
  readonly delivery: Delivery | null;
}

/**
 * Sets the settlement header of the x402 version that the client uses. A delivery gets the signed receipt of the extension `offer-receipt`,
 * which states that the service was delivered, so a failed call has none.
 */
export async function setPaymentResponse(
  ctx: Pick<NodeIdentity, 'chain'> & Pick<NodeKeys, 'receiptSigner'>,
  call: { setHeader(name: string, value: string): void },
  paid: Paid,
): Promise<void> {
  const { caip2, name } = networkNamesOf(ctx.chain, paid.asset);
  const network = paid.version === 2 ? caip2 : name;
  const response: SettleResponse = {
    ...{ success: true, payer: paid.payer, transaction: paid.transactionHash, network },
    ...(await receiptOf(ctx, paid)),
  };
  call.setHeader(paid.version === 2 ? 'payment-response' : 'x-payment-response', encode(response));
}

interface VoucherPaid extends Pick<Paid, 'delivery' | 'asset'> {
  readonly requestId: string;
  readonly channelId: string;
  readonly chargedMicro: bigint;
  /** The deposit that came with the voucher; null: none. */
  readonly deposit: { readonly amountMicro: bigint; readonly transactionHash: string } | null;
}

/** Sets the payment response of a call paid by a voucher, with its charge and the state of its channel. */
export async function setVoucherResponse(
  ctx: NodeIdentity & Pick<NodeKeys, 'receiptSigner'> & ChannelServices,
  call: { setHeader(name: string, value: string): void },
  { requestId, channelId, chargedMicro, deposit, delivery, asset }: VoucherPaid,
): Promise<void> {
  const known = ctx.channels.afterEnds.get(requestId);
  ctx.channels.afterEnds.delete(requestId);
  const channel = known ?? (await ctx.channels.read(channelId));
  if (!channel) return;
  const { payer } = channel;
  const transactionHash = deposit?.transactionHash ?? '';
  const response: SettleResponse = {
    ...{ success: true, payer, transaction: transactionHash, network: networkNamesOf(ctx.chain, asset).caip2 },
    amount: deposit?.amountMicro.toString() ?? '',
    extra: { chargedAmount: chargedMicro.toString(), channelState: toChannelState(channel) },
    ...(await receiptOf(ctx, { payer, transactionHash, delivery, asset })),
  };
  call.setHeader('payment-response', encode(response));
}

type Delivered = Pick<Paid, 'payer' | 'transactionHash' | 'delivery' | 'asset'>;

const receiptOf = async (
  ctx: Pick<NodeIdentity, 'chain'> & Pick<NodeKeys, 'receiptSigner'>,
  paid: Delivered,
): Promise<Pick<SettleResponse, 'extensions'>> =>
  paid.delivery === null ? {} : { extensions: { 'offer-receipt': await signReceipt(ctx, paid, paid.delivery) } };

/** Signed for the time of the delivery: a repetition gets the same receipt. */
async function signReceipt(
  { chain, receiptSigner }: Pick<NodeIdentity, 'chain'> & Pick<NodeKeys, 'receiptSigner'>,
  { payer, transactionHash, asset }: Delivered,
  delivery: Delivery,
) {
  const payload: PaymentReceipt = {
    version: 1,
    network: networkNamesOf(chain, asset).caip2,
    resourceUrl: delivery.resourceUrl,
    payer,
    issuedAt: Math.floor(delivery.at.getTime() / 1000),
    transaction: transactionHash,
  };
  const receipt = { format: 'eip712', payload, signature: await receiptSigner.signHash(paymentReceiptDigest(payload)) };
  return { info: { version: 1, receipt } };
}
