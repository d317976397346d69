import type { RequirementsV2 } from '@agent-network/contracts/payments/x402';
import type { ChainInfo } from '../../chain/chain-info.ts';
import { PAYMENT_WINDOW_S } from './terms.ts';

/** Terms of a payment as a list shows them. They carry no offer: a payment is signed for those of a 402. */
export const listedTerms = (chain: ChainInfo, amountMicro: bigint): RequirementsV2 => ({
  scheme: 'exact',
  network: chain.caip2,
  amount: amountMicro.toString(),
  asset: chain.token,
  payTo: chain.wallet,
  maxTimeoutSeconds: PAYMENT_WINDOW_S,
  extra: { name: chain.tokenName, version: chain.tokenVersion, paymentFlow: 'upfront' },
});
