import { caip2ByChain } from '@agent-network/chain/addresses';
import { generatePrivateKey, privateKeyToAddress } from 'viem/accounts';
import { submitPayment } from '../../support/chain-actions.ts';
import type { Harness } from '../../support/harness.ts';
import type { PaidTerms } from './upstream.ts';

/** Terms of an upstream that demands this much, and where the money is to arrive. */
export function createTerms(h: Harness, amountMicro: bigint): PaidTerms & { readonly payTo: string } {
  const { chain } = h.ctx;
  const payTo = privateKeyToAddress(generatePrivateKey());
  const terms = {
    scheme: 'exact',
    network: caip2ByChain[chain.chainId as keyof typeof caip2ByChain],
    amount: amountMicro.toString(),
    asset: chain.token,
    payTo,
    maxTimeoutSeconds: 120,
    extra: { name: chain.tokenName, version: chain.tokenVersion },
  };
  return {
    payTo,
    required: { x402Version: 2, error: 'Payment required', resource: { url: 'http://agent.test/' }, accepts: [terms] },
    async take(payment) {
      const header = Buffer.from(JSON.stringify(payment)).toString('base64');
      await submitPayment(h.rpcUrl, h, { 'payment-signature': header });
    },
  };
}
