import { type Micro, parseUsdc } from '@agent-network/contracts/money';
import { x402Client } from '@x402/core/client';
import { decodePaymentRequiredHeader, encodePaymentSignatureHeader } from '@x402/core/http';
import { isPaymentRequiredV2, type PaymentRequirementsV2 } from '@x402/core/schemas';
import type { PaymentPayload, PaymentRequired } from '@x402/core/types';
import { ExactEvmScheme } from '@x402/evm/exact/client';
import { type LocalAccount, privateKeyToAccount } from 'viem/accounts';
import type { PaymentHeaders } from './api-error.ts';
import { PaymentRefusedError } from './payment-refused-error.ts';

/** USDC as its issuer deployed it, by CAIP-2 network: Base and Base Sepolia. */
const usdcContracts: Readonly<Record<string, string>> = {
  'eip155:8453': '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913',
  'eip155:84532': '0x036CbD53842c5426634e7929541eC2318f3dCF7e',
};

/** A signature that stays usable longer than this is more than a payment for one call. */
const longestValidityS = 3_600;

export interface Payer {
  readonly address: string;
  /** Signs one payment for the terms of a 402 (the `PAYMENT-REQUIRED` header), or throws `PaymentRefusedError` unsigned. */
  pay(paymentRequiredHeader: string): Promise<PaymentHeaders>;
}

/** Signs payments with a private key that is held elsewhere: a wallet in a browser, a key service. */
export interface PayerSigner {
  readonly address: `0x${string}`;
  /** Returns the EIP-712 signature of the account; errors are passed on. */
  signTypedData(typedData: {
    readonly domain: Record<string, unknown>;
    readonly types: Record<string, unknown>;
    readonly primaryType: string;
    readonly message: Record<string, unknown>;
  }): Promise<`0x${string}`>;
}

export type PayerOptions = {
  /** Maximum cost of one call, in USDC. */
  readonly maxPerCall: string;
  /** Networks to pay on and the token to pay with; default: USDC on Base and Base Sepolia. */
  readonly tokens?: Readonly<Record<string, string>>;
} & (
  | { readonly account: LocalAccount }
  | { readonly privateKey: `0x${string}` }
  /** Asked once for each payment, after network, token, amount and validity were found good. */
  | { readonly signer: PayerSigner }
);

function readTerms(header: string): PaymentRequired & { accepts: PaymentRequirementsV2[] } {
  try {
    const terms: unknown = decodePaymentRequiredHeader(header);
    if (isPaymentRequiredV2(terms)) return terms as PaymentRequired & { accepts: PaymentRequirementsV2[] };
  } catch {
    // Answered below: both ways the header says nothing that could be paid.
  }
  throw new PaymentRefusedError('malformed_terms', 'The 402 answer has no readable PAYMENT-REQUIRED header');
}

/** The cheapest offer that may be signed. Throws `PaymentRefusedError` with the reason that stood last in the way. */
function chooseOffer(
  offers: readonly PaymentRequirementsV2[],
  tokens: Readonly<Record<string, string>>,
  capMicro: Micro,
): PaymentRequirementsV2 {
  const known = offers.filter(
    (offer) =>
      offer.scheme === 'exact' &&
      offer.asset.toLowerCase() === tokens[offer.network]?.toLowerCase() &&
      (offer.extra?.assetTransferMethod ?? 'eip3009') === 'eip3009' &&
      /^\d{1,30}$/.test(offer.amount),
  );
  if (known.length === 0) throw new PaymentRefusedError('unknown_asset', 'No offer asks for a token that may be paid');
  const brief = known.filter((offer) => offer.maxTimeoutSeconds <= longestValidityS);
  const cheapest = brief.sort((a, b) => (BigInt(a.amount) < BigInt(b.amount) ? -1 : 1))[0];
  if (!cheapest)
    throw new PaymentRefusedError('validity_too_long', 'Every offer wants a signature valid for over an hour');
  if (BigInt(cheapest.amount) > capMicro)
    throw new PaymentRefusedError(
      'above_cap',
      `${cheapest.amount} micro-USDC are asked, ${capMicro} is the most allowed`,
    );
  return cheapest;
}

const noncePattern = /^0x[0-9a-f]{64}$/;

/** The nonce that the node would have the payment signed under: bound to this account's purchase, so that it is good for nobody else's. */
const offeredNonce = ({ extra }: PaymentRequirementsV2): `0x${string}` | null =>
  typeof extra?.nonce === 'string' && noncePattern.test(extra.nonce) ? (extra.nonce as `0x${string}`) : null;

/** Has a scheme sign under another nonce than the one that it makes up. */
const signingUnder = (signer: PayerSigner, nonce: `0x${string}`): PayerSigner => ({
  address: signer.address,
  signTypedData: (typedData) => signer.signTypedData({ ...typedData, message: { ...typedData.message, nonce } }),
});

/** The payload as it was signed. */
const under = (nonce: `0x${string}`, signed: PaymentPayload): PaymentPayload => {
  const authorization = { ...(signed.payload.authorization as Record<string, unknown>), nonce };
  return { ...signed, payload: { ...signed.payload, authorization } };
};

function signerOf(options: PayerOptions): PayerSigner {
  if ('signer' in options) return options.signer;
  return ('account' in options ? options.account : privateKeyToAccount(options.privateKey)) as PayerSigner;
}

/**
 * Pays 402 answers in USDC with EIP-3009 authorizations (x402 v2, scheme `exact`). Network, token, amount and validity are
 * checked before anything is signed; nothing is signed above `maxPerCall`.
 */
export function createPayer(options: PayerOptions): Payer {
  const signer = signerOf(options);
  const tokens = options.tokens ?? usdcContracts;
  const capMicro = parseUsdc(options.maxPerCall);
  return {
    address: signer.address,
    async pay(paymentRequiredHeader) {
      const terms = readTerms(paymentRequiredHeader);
      const offer = chooseOffer(terms.accepts, tokens, capMicro);
      const network = offer.network as `${string}:${string}`;
      const nonce = offeredNonce(offer);
      const scheme = new ExactEvmScheme(nonce ? signingUnder(signer, nonce) : signer);
      const client = x402Client.fromConfig({ schemes: [{ network, client: scheme }], spendControls: false });
      const signed = await client.createPaymentPayload({ ...terms, accepts: [offer] } as PaymentRequired);
      return { 'payment-signature': encodePaymentSignatureHeader(nonce ? under(nonce, signed) : signed) };
    },
  };
}
