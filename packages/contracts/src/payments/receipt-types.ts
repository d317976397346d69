// Receipts are EIP-712 typed data, signed by the wallet that a node is paid to. The types are normative: docs/receipts.md.

/** A struct type with plain values as fields, in the order of signing. */
export type StructType = readonly {
  readonly name: string;
  readonly type: 'string' | 'address' | 'uint256' | 'bytes32';
}[];

/** Domain of the x402 extension `offer-receipt`, version 1. Its chain id is fixed; the field `network` has the real one. */
export const paymentReceiptDomain = { name: 'x402 receipt', version: '1', chainId: 1 } as const;
export const paymentReceiptTypes = {
  Receipt: [
    { name: 'version', type: 'uint256' },
    { name: 'network', type: 'string' },
    { name: 'resourceUrl', type: 'string' },
    { name: 'payer', type: 'string' },
    { name: 'issuedAt', type: 'uint256' },
    { name: 'transaction', type: 'string' },
  ],
} as const satisfies Record<string, StructType>;

export interface PaymentReceipt {
  readonly version: 1;
  /** CAIP-2, also for x402 v1. */
  readonly network: string;
  readonly resourceUrl: string;
  readonly payer: string;
  /** Seconds since 1970. */
  readonly issuedAt: number;
  readonly transaction: string;
}

/** Version 2 adds hashes: it is that of calls with usage. */
export const receiptVersions = ['1', '2'] as const;
export type ReceiptVersion = (typeof receiptVersions)[number];

export const invocationReceiptDomain = (chainId: number, version: ReceiptVersion = '1') =>
  ({ name: 'agent-network receipt', version, chainId }) as const;

export const invocationReceiptTypes = {
  InvocationReceipt: [
    { name: 'requestId', type: 'string' },
    { name: 'node', type: 'string' },
    { name: 'agentId', type: 'string' },
    { name: 'owner', type: 'address' },
    { name: 'payer', type: 'string' },
    { name: 'paymentMethod', type: 'string' },
    { name: 'asset', type: 'address' },
    { name: 'price', type: 'uint256' },
    { name: 'cost', type: 'uint256' },
    { name: 'refund', type: 'uint256' },
    { name: 'transaction', type: 'string' },
    { name: 'channel', type: 'string' },
    { name: 'status', type: 'string' },
    { name: 'taskHash', type: 'bytes32' },
    { name: 'inputHash', type: 'bytes32' },
    { name: 'contextHash', type: 'bytes32' },
    { name: 'resultHash', type: 'bytes32' },
    { name: 'createdAt', type: 'uint256' },
    { name: 'completedAt', type: 'uint256' },
    { name: 'issuedAt', type: 'uint256' },
  ],
} as const satisfies Record<string, StructType>;

/** The types of each version. */
export const receiptTypesOf = {
  '1': invocationReceiptTypes,
  '2': {
    InvocationReceipt: [
      ...invocationReceiptTypes.InvocationReceipt,
      { name: 'usageHash', type: 'bytes32' },
      { name: 'filesHash', type: 'bytes32' },
    ],
  },
} as const satisfies Record<ReceiptVersion, Record<string, StructType>>;

/** The hash of what a request does not have. */
export const NO_HASH = `0x${'0'.repeat(64)}` as const;
