import { invalid } from '../../lib/app-error.ts';

/** Where a payment that is on chain already is credited: a hash pays for no call. */
const HASH =
  "is a transaction hash: sign an authorization (EIP-3009) instead. A plain transfer to the node's wallet is credited to the account of the wallet that sent it, which proves itself by POST /payments/claims";

const isTransactionHash = (value: unknown): boolean => typeof value === 'string' && /^0x[0-9a-fA-F]{64}$/.test(value);

/** The fields in which clients of other schemes tell a transfer that they have made. */
const HASH_FIELDS = ['transaction', 'transactionHash', 'txHash', 'hash', 'signature'];

/**
 * Decodes the content of a payment header, as wallets write it: base64 or base64url, with or without padding, or plain JSON. Throws
 * VALIDATION_ERROR for what holds no JSON, and for the hash of a transaction.
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
