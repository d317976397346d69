import { CHANNEL_SCHEME, type RequirementsV2 } from '@agent-network/contracts/payments/x402';
import type { ChainInfo } from '../../chain/chain-info.ts';
import { PAYMENT_WINDOW_S } from './terms.ts';

/** Terms of a call as a list shows them. They carry no offer: a payment is signed for those of a 402. */
export function listedTerms(chain: ChainInfo, amountMicro: bigint): RequirementsV2[] {
  const common = {
    network: chain.caip2,
    amount: amountMicro.toString(),
    asset: chain.token,
    payTo: chain.wallet,
    maxTimeoutSeconds: PAYMENT_WINDOW_S,
  };
  const token = { name: chain.tokenName, version: chain.tokenVersion };
  const exact = { scheme: 'exact', ...common, extra: { ...token, paymentFlow: 'upfront' } };
  if (!chain.channels) return [exact];
  const { withdrawDelayS: withdrawDelay, minDepositMicro } = chain.channels;
  const extra = { ...token, receiverAuthorizer: chain.wallet, withdrawDelay, minDeposit: minDepositMicro.toString() };
  return [exact, { scheme: CHANNEL_SCHEME, ...common, extra }];
}
