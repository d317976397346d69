import { canonicalJson } from '@agent-network/contracts/canonical-json';
import {
  invocationReceiptDomain,
  type ReceiptVersion,
  receiptTypesOf,
  receiptVersions,
} from '@agent-network/contracts/payments/receipt-types';
import type { InvocationReceipt, SignedReceipt } from '@agent-network/contracts/payments/receipts';
import { type Hex, recoverTypedDataAddress, sha256, stringToBytes } from 'viem';

export type { InvocationReceipt, SignedReceipt };

export type ReceiptRefusal =
  | 'malformed_receipt'
  | 'wrong_signature'
  | 'other_chain'
  | 'other_request'
  | 'other_task'
  | 'other_input'
  | 'other_context'
  | 'other_result'
  | 'other_usage';

/** The receipt was not signed by that node, was changed, or is about something else. */
export class ReceiptVerificationError extends Error {
  override readonly name = 'ReceiptVerificationError';
  readonly reason: ReceiptRefusal;

  constructor(reason: ReceiptRefusal, message: string) {
    super(message);
    this.reason = reason;
  }
}

/** Expected contents of the receipt. A field that is left out is not checked. */
export interface ReceiptExpectation {
  /** The node's wallet: `payTo` of its payment terms. Take it from anywhere but the receipt. */
  readonly wallet: string;
  /** The chain that the node is paid on: 8453 is Base. */
  readonly chainId?: number;
  readonly requestId?: string;
  /** Task and input as sent, and result as received, as JSON values. */
  readonly task?: string;
  readonly input?: unknown;
  readonly context?: string | null;
  readonly result?: unknown;
  /** `usage` of the record: what the call used. */
  readonly usage?: unknown;
}

/** The value in its wire form: without undefined fields, and with dates as texts. */
const asSent = (value: unknown): unknown => JSON.parse(JSON.stringify(value) ?? 'null');

/** SHA-256 of a value's canonical JSON (RFC 8785), as receipts have it. */
export const hashOfJson = (value: unknown): Hex => sha256(stringToBytes(canonicalJson(asSent(value))));

/**
 * Verifies that the wallet signed the receipt, and that it is about these values. Needs neither the node nor the chain. Returns the signed
 * message; throws `ReceiptVerificationError`.
 */
export async function verifyReceipt(receipt: SignedReceipt, expected: ReceiptExpectation): Promise<InvocationReceipt> {
  const { message, chainId, version } = read(receipt);
  const signer = await signerOf(receipt.signature, message, { chainId, version });
  if (signer?.toLowerCase() !== expected.wallet.toLowerCase())
    throw refuse('wrong_signature', 'The receipt was not signed by this wallet, or was changed');
  if (expected.chainId !== undefined && expected.chainId !== chainId)
    throw refuse('other_chain', 'The receipt is of another chain');
  if (expected.requestId !== undefined && expected.requestId !== message.requestId)
    throw refuse('other_request', 'The receipt is of another request');
  for (const part of ['task', 'input', 'context', 'result', 'usage'] as const) requirePart(part, message, expected);
  return message;
}

const refuse = (reason: ReceiptRefusal, text: string) => new ReceiptVerificationError(reason, text);

function requirePart(
  part: 'task' | 'input' | 'context' | 'result' | 'usage',
  message: InvocationReceipt,
  expected: ReceiptExpectation,
): void {
  if (expected[part] === undefined || hashOfJson(expected[part]) === message[`${part}Hash`]) return;
  throw refuse(`other_${part}`, `The receipt is of another ${part}`);
}

/** Reads exactly the signed fields, regardless of the types in the receipt. */
function read(receipt: SignedReceipt): { message: InvocationReceipt; chainId: number; version: ReceiptVersion } {
  const given: Readonly<Record<string, unknown>> = receipt?.message ?? {};
  const version = receiptVersions.find((each) => each === receipt?.domain?.version) ?? '1';
  const fields = receiptTypesOf[version].InvocationReceipt.map(({ name }) => [name, given[name]] as const);
  const isWhole = fields.every(([, value]) => typeof value === 'string' || typeof value === 'number');
  const chainId = receipt?.domain?.chainId;
  if (!isWhole || !Number.isSafeInteger(chainId) || typeof receipt.signature !== 'string')
    throw refuse('malformed_receipt', 'The value is not a receipt');
  return { message: Object.fromEntries(fields) as unknown as InvocationReceipt, chainId, version };
}

async function signerOf(
  signature: string,
  message: InvocationReceipt,
  { chainId, version }: { readonly chainId: number; readonly version: ReceiptVersion },
): Promise<string | null> {
  try {
    return await recoverTypedDataAddress({
      domain: invocationReceiptDomain(chainId, version),
      types: receiptTypesOf[version],
      primaryType: 'InvocationReceipt',
      message: toTypedMessage(message),
      signature: signature as Hex,
    });
  } catch {
    return null;
  }
}

const toTypedMessage = (message: InvocationReceipt) => ({
  ...message,
  owner: message.owner as Hex,
  asset: message.asset as Hex,
  price: BigInt(message.price),
  cost: BigInt(message.cost),
  refund: BigInt(message.refund),
  taskHash: message.taskHash as Hex,
  inputHash: message.inputHash as Hex,
  contextHash: message.contextHash as Hex,
  resultHash: message.resultHash as Hex,
  ...(message.usageHash === undefined ? {} : { usageHash: message.usageHash as Hex }),
  ...(message.filesHash === undefined ? {} : { filesHash: message.filesHash as Hex }),
  createdAt: BigInt(message.createdAt),
  completedAt: BigInt(message.completedAt),
  issuedAt: BigInt(message.issuedAt),
});
