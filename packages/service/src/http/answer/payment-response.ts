import type { PaymentReceipt } from '@agent-network/contracts/payments/receipt-types';
import type { SettleResponse } from '@agent-network/contracts/payments/x402';
import type { HasChain } from '../../chain/chain-info.ts';
import type { HasWallet } from '../../chain/node-wallet.ts';
import { encode } from './errors.ts';

/** What was delivered for a payment, and when. */
export interface Delivery {
  readonly resourceUrl: string;
  readonly at: Date;
}

interface Paid {
  readonly payer: string;
  readonly version: 1 | 2;
  readonly transactionHash: string;
  /** null: not delivered yet, or not at all. */
  readonly delivery: Delivery | null;
}

/**
 * Sets the settlement header of the x402 version that the client uses. A delivery gets the signed receipt of the extension
 * `offer-receipt`: it says that the service was delivered, so a failed call has none.
 */
export function setPaymentResponse(
  ctx: HasChain & HasWallet,
  call: { setHeader(name: string, value: string): void },
  paid: Paid,
): void {
  const network = paid.version === 2 ? ctx.chain.caip2 : ctx.chain.name;
  const response: SettleResponse = {
    ...{ success: true, payer: paid.payer, transaction: paid.transactionHash, network },
    ...(paid.delivery === null ? {} : { extensions: { 'offer-receipt': signReceipt(ctx, paid, paid.delivery) } }),
  };
  call.setHeader(paid.version === 2 ? 'payment-response' : 'x-payment-response', encode(response));
}

/** Signed for the time of the delivery: a repetition gets the same receipt. */
function signReceipt({ chain, wallet }: HasChain & HasWallet, { payer, transactionHash }: Paid, delivery: Delivery) {
  const payload: PaymentReceipt = {
    version: 1,
    network: chain.caip2,
    resourceUrl: delivery.resourceUrl,
    payer,
    issuedAt: Math.floor(delivery.at.getTime() / 1000),
    transaction: transactionHash,
  };
  const receipt = { format: 'eip712', payload, signature: wallet.signPaymentReceipt(payload) };
  return { info: { version: 1, receipt } };
}
