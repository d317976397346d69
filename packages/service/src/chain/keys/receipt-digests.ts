import {
  invocationReceiptDomain,
  type PaymentReceipt,
  paymentReceiptDomain,
  paymentReceiptTypes,
  type ReceiptVersion,
  receiptTypesOf,
  receiptVersions,
  type StructType,
} from '@agent-network/contracts/payments/receipt-types';
import type { InvocationReceipt } from '@agent-network/contracts/payments/receipts';
import { hashOf, typedDigest, typeHash, word } from '../../lib/typed-digest.ts';

const DOMAIN = typeHash('EIP712Domain(string name,string version,uint256 chainId)');

/** Strings are hashed, as the declarations of types are. */
const hashText = typeHash;

const encoders: Record<StructType[number]['type'], (value: string | number) => string> = {
  string: (value) => hashText(String(value)),
  uint256: (value) => word(BigInt(value)),
  address: (value) => word(BigInt(value)),
  bytes32: String,
};

const hashers = Object.fromEntries(
  receiptVersions.map((version) => [
    version,
    structHasher('InvocationReceipt', receiptTypesOf[version].InvocationReceipt, (chainId) =>
      invocationReceiptDomain(chainId, version),
    ),
  ]),
) as Record<ReceiptVersion, ReturnType<typeof structHasher>>;
const hashPaymentReceipt = structHasher('Receipt', paymentReceiptTypes.Receipt, () => paymentReceiptDomain);

export const invocationReceiptDigest = (chainId: number, receipt: InvocationReceipt, version: ReceiptVersion = '1') =>
  hashers[version](chainId, { ...receipt } as Message);

export const paymentReceiptDigest = (receipt: PaymentReceipt) =>
  hashPaymentReceipt(paymentReceiptDomain.chainId, { ...receipt });

type Hex = `0x${string}`;

interface Domain {
  readonly name: string;
  readonly version: string;
  readonly chainId: number;
}

type Message = Readonly<Record<string, string | number>>;

/**
 * Returns a function that computes EIP-712 digests of a struct of plain values. The type hash and the domain hash of each chain are
 * computed once.
 */
function structHasher(
  name: string,
  type: StructType,
  domainOf: (chainId: number) => Domain,
): (chainId: number, message: Message) => Hex {
  const struct = typeHash(`${name}(${type.map((field) => `${field.type} ${field.name}`).join(',')})`);
  const separators = new Map<number, Hex>();
  const separatorOf = (chainId: number) => {
    const known = separators.get(chainId);
    if (known) return known;
    const domain = domainOf(chainId);
    const separator = hashOf(DOMAIN, hashText(domain.name), hashText(domain.version), word(domain.chainId));
    separators.set(chainId, separator);
    return separator;
  };
  return (chainId, message) => {
    const fields = type.map((field) => encoders[field.type](message[field.name] as string | number));
    return typedDigest(separatorOf(chainId), hashOf(struct, ...fields));
  };
}
