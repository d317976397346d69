import { invalid } from '../../lib/app-error.ts';
import { type HeaderName, namedSchemeOf, type PresentedPayment, unread } from './presented-payment.ts';
import type { X402Scheme } from './x402-scheme.ts';

export interface PaymentHeaders {
  readonly 'payment-signature'?: string | undefined;
  readonly 'x-payment'?: string | undefined;
}

/** A payment as decoded, and the header that it came in. */
interface Decoded {
  readonly name: HeaderName;
  readonly value: unknown;
}

/** Called when a payment is malformed, with its scheme; null: unknown. */
type OnMalformed = (scheme: string | null) => void;

/**
 * Reads the payment of a request; null without one. Both headers take both versions, and may hold the same payment. Throws VALIDATION_ERROR
 * (400) when it is malformed, of a scheme that the node does not take, or the headers hold two payments.
 */
export function readPaymentHeader(
  headers: PaymentHeaders,
  schemes: readonly X402Scheme[],
  onMalformed?: OnMalformed,
): PresentedPayment | null {
  const found = decodedIn(headers, onMalformed).map((decoded) => ({
    name: decoded.name,
    shown: readAs(decoded, schemes, onMalformed),
  }));
  // The newer version echoes the offer that it is for.
  const [first, second] = found.sort((a, b) => b.shown.version - a.shown.version);
  if (!first) return null;
  if (second && signedText(schemes, first.shown) !== signedText(schemes, second.shown))
    throw invalid(second.name, `holds another payment than ${first.name}: send one of them, or the same in both`);
  return first.shown;
}

/** The payment of a request as its client wrote it, for a gateway that passes it on; undefined: none. Throws as `readPaymentHeader` does. */
export function payloadIn(headers: PaymentHeaders): unknown {
  const decoded = decodedIn(headers);
  return (decoded.find(({ value }) => unread(value).x402Version === 2) ?? decoded[0])?.value;
}

function decodedIn(headers: PaymentHeaders, onMalformed?: OnMalformed): Decoded[] {
  const { 'payment-signature': newer = '', 'x-payment': older = '' } = headers;
  const given: [HeaderName, string][] = [
    ['PAYMENT-SIGNATURE', newer],
    ['X-PAYMENT', older],
  ];
  try {
    return given.flatMap(([name, text]) => (text.trim() === '' ? [] : [{ name, value: decodePayment(name, text) }]));
  } catch (error) {
    onMalformed?.(null);
    throw error;
  }
}

function readAs({ name, value }: Decoded, schemes: readonly X402Scheme[], onMalformed?: OnMalformed): PresentedPayment {
  const scheme = schemeFor(name, value, schemes);
  try {
    return scheme.read(name, value);
  } catch (error) {
    onMalformed?.(scheme.id);
    throw error;
  }
}

/**
 * The scheme of a payload. A payload of an EIP-3009 transfer is read as `exact` regardless of its scheme, and refused by that scheme's
 * code.
 */
function schemeFor(name: HeaderName, value: unknown, schemes: readonly X402Scheme[]): X402Scheme {
  const named = namedSchemeOf(value);
  const [exact] = schemes;
  const found = schemes.find(({ id }) => id === named);
  if (found) return found;
  const isReadable = typeof named !== 'string' || unread(value).payload?.authorization !== undefined;
  if (exact && isReadable) return exact;
  const place = unread(value).x402Version === 1 ? `${name}.scheme` : `${name}.accepted.scheme`;
  const taken = schemes.map(({ id }) => `"${id}"`).join(' and, where offered, ');
  throw invalid(place, `is ${JSON.stringify(String(named).slice(0, 64))}: this node takes ${taken}`);
}

/** The signed part of a payment as text: equal for two forms of one payment, and only for those. */
const signedText = (schemes: readonly X402Scheme[], shown: PresentedPayment): string =>
  JSON.stringify([shown.scheme, schemes.find(({ id }) => id === shown.scheme)?.signedPart(shown)], (_name, value) =>
    typeof value === 'bigint' ? String(value) : value,
  );

/** Remedy for a transaction hash: it can't pay for a call, and plain transfers are credited as deposits. */
const HASH =
  "is a transaction hash: sign an authorization (EIP-3009) instead. A plain transfer to the node's wallet is credited to the account of the wallet that sent it, which proves itself by POST /payments/claims";

const isTransactionHash = (value: unknown): boolean => typeof value === 'string' && /^0x[0-9a-fA-F]{64}$/.test(value);

/** Fields in which clients of other schemes send the hash of a transfer. */
const HASH_FIELDS = ['transaction', 'transactionHash', 'txHash', 'hash', 'signature'];

/**
 * Decodes the content of a payment header, as wallets write it: base64 or base64url, with or without padding, or plain JSON. Throws
 * VALIDATION_ERROR for anything but JSON, and for the hash of a transaction.
 */
export function decodePayment(name: string, header: string): unknown {
  const text = header.trim();
  if (isTransactionHash(text)) throw invalid(name, HASH);
  const decoded = parse(name, text.startsWith('{') ? text : fromBase64(name, text));
  const payload = (decoded as { payload?: unknown } | null)?.payload;
  const hashField = HASH_FIELDS.find((field) =>
    isTransactionHash((payload as Record<string, unknown> | null)?.[field]),
  );
  if (hashField !== undefined) throw invalid(`${name}.payload.${hashField}`, HASH);
  return decoded;
}

/** Header values arrive as one byte a character; JSON that is not encoded may hold more. */
function fromBase64(name: string, text: string): string {
  if (!/^[A-Za-z0-9+/_-]+={0,2}$/.test(text))
    throw invalid(name, 'is neither base64 nor JSON: send the payment as base64 of its JSON');
  // Takes both alphabets.
  return Buffer.from(text, 'base64').toString('utf8');
}

function parse(name: string, text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw invalid(name, 'does not hold JSON; it may be cut off');
  }
}
