import type { SettleResponse } from '@agent-network/contracts/payments/x402';
import type { HasChain } from '../../chain/chain-info.ts';
import { encode } from './errors.ts';

/** Sets the settlement header of the x402 version that the client uses. */
export function setPaymentResponse(
  ctx: HasChain,
  call: { setHeader(name: string, value: string): void },
  paid: { payer: string; version: 1 | 2; transactionHash: string },
): void {
  const network = paid.version === 2 ? ctx.chain.caip2 : ctx.chain.name;
  const response: SettleResponse = { success: true, payer: paid.payer, transaction: paid.transactionHash, network };
  call.setHeader(paid.version === 2 ? 'payment-response' : 'x-payment-response', encode(response));
}
