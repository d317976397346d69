import type { Authorization } from '../../chain/keys/authorization.ts';
import type { AgentTerms } from './agent-terms.ts';

/** The header that shows our payment to an agent. */
export interface PaymentProof {
  readonly headerName: 'payment-signature' | 'x-payment';
  readonly headerValue: string;
}

/** Builds the header for accepted terms; both versions carry the authorization in decimal strings (x402, scheme exact on EVM). */
export function paymentProof(terms: AgentTerms, authorization: Authorization, signature: string): PaymentProof {
  const payload = {
    signature,
    authorization: {
      from: authorization.from,
      to: authorization.to,
      value: authorization.valueMicro.toString(),
      validAfter: authorization.validAfterS.toString(),
      validBefore: authorization.validBeforeS.toString(),
      nonce: authorization.nonce,
    },
  };
  const { version, accepted, resource, extensions } = terms;
  if (version === 2)
    return {
      headerName: 'payment-signature',
      headerValue: encode({ x402Version: 2, resource, accepted, payload, extensions }),
    };
  const { scheme, network } = accepted;
  return { headerName: 'x-payment', headerValue: encode({ x402Version: 1, scheme, network, payload }) };
}

const encode = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64');
