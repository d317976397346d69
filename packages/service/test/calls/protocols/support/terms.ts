import { caip2ByChain } from '@agent-network/chain/addresses';
import { generatePrivateKey, privateKeyToAddress } from 'viem/accounts';
import { submitPayment } from '../../../support/chain-actions.ts';
import type { Harness } from '../../../support/harness.ts';
import type { PaidTerms } from './upstream.ts';

/** Terms of an upstream that demands this much, and where the money is to arrive. */
export function createTerms(
  h: Harness,
  amountMicro: bigint,
  version: 1 | 2 = 2,
): PaidTerms & { readonly payTo: string } {
  const { chain } = h.ctx;
  const payTo = privateKeyToAddress(generatePrivateKey());
  const resource = 'http://agent.test/';
  const terms = {
    scheme: 'exact',
    ...(version === 2
      ? { network: caip2ByChain[chain.chainId as keyof typeof caip2ByChain], amount: amountMicro.toString() }
      : { network: chain.name, maxAmountRequired: amountMicro.toString(), resource, description: '', mimeType: '' }),
    asset: chain.token,
    payTo,
    maxTimeoutSeconds: 120,
    extra: { name: chain.tokenName, version: chain.tokenVersion },
  };
  return {
    payTo,
    required: {
      ...{ x402Version: version, error: 'Payment required', accepts: [terms] },
      ...(version === 2 ? { resource: { url: resource } } : {}),
    },
    async take(payment) {
      if (payment.x402Version !== version) throw new Error(`the payment is of version ${payment.x402Version}`);
      const header = Buffer.from(JSON.stringify(payment)).toString('base64');
      await submitPayment(h.rpcUrl, h, { [version === 1 ? 'x-payment' : 'payment-signature']: header });
    },
  };
}
