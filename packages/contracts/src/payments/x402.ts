import { z } from 'zod';

// The x402 wire, versions 1 and 2, scheme "exact" with EIP-3009 (x402 specification, transports-v2/http and schemes/exact/evm); v2 also
// scheme "batch-settlement" (schemes/batch-settlement/evm).

const Address = z.string().regex(/^0x[0-9a-fA-F]{40}$/);
const AtomicAmount = z.string().regex(/^(0|[1-9]\d{0,30})$/);
/** Up to 18 digits: beyond the age of the universe, and within a 64-bit integer. */
const Seconds = z.string().regex(/^\d{1,18}$/);

/** A whole number, as decimal text or, as some wallets write it, a JSON number that is exact. */
const uintText = (text: z.ZodString) =>
  z.preprocess((value) => (Number.isSafeInteger(value) ? String(value) : value), text);

const Eip3009Payload = z.object({
  signature: z.string().regex(/^0x([0-9a-fA-F]{2}){1,4096}$/),
  authorization: z.object({
    from: Address,
    to: Address,
    value: uintText(AtomicAmount),
    validAfter: uintText(Seconds),
    validBefore: uintText(Seconds),
    nonce: z.string().regex(/^0x[0-9a-fA-F]{64}$/),
  }),
});
export type Eip3009Payload = z.infer<typeof Eip3009Payload>;

const RequirementsV2 = z.object({
  scheme: z.string(),
  network: z.string(),
  amount: AtomicAmount,
  asset: Address,
  payTo: Address,
  maxTimeoutSeconds: z.number().positive(),
  extra: z.record(z.string(), z.unknown()).default({}),
});
export type RequirementsV2 = z.infer<typeof RequirementsV2>;

/** The client's own id of a purchase (x402 v2 extension `payment-identifier`). */
const PaymentIdentifier = z.object({
  info: z
    .object({
      id: z
        .string()
        .regex(/^[A-Za-z0-9_-]{16,128}$/, 'is not 16 to 128 of A-Z a-z 0-9 _ -')
        .optional(),
    })
    .optional(),
});

const payloadV2 = {
  x402Version: z.literal(2),
  accepted: RequirementsV2,
  extensions: z.object({ 'payment-identifier': PaymentIdentifier.optional() }).optional(),
};

/** Content of the `PAYMENT-SIGNATURE` header (x402 v2), scheme `exact`. */
export const PaymentPayloadV2 = z.object({ ...payloadV2, payload: Eip3009Payload });

export const CHANNEL_SCHEME = 'batch-settlement';

/** Schemes of x402 that a node takes, in the order of a 402. One transaction of a node locks their rows in this order. */
export const x402SchemeIds = ['exact', CHANNEL_SCHEME] as const;
export type X402SchemeId = (typeof x402SchemeIds)[number];

const Hash = z.string().regex(/^0x[0-9a-fA-F]{64}$/);
const Signature = z.string().regex(/^0x([0-9a-fA-F]{2}){0,4096}$/);

/** The configuration that defines a channel: the channel's id is the EIP-712 digest of it. */
export const ChannelConfig = z.object({
  payer: Address,
  payerAuthorizer: Address,
  receiver: Address,
  receiverAuthorizer: Address,
  token: Address,
  withdrawDelay: z
    .number()
    .int()
    .min(0)
    .max(2 ** 40 - 1),
  salt: Hash,
});
export type ChannelConfig = z.infer<typeof ChannelConfig>;

/** `type` is `deposit`, `voucher` or `refund`; another one is refused by the code of the scheme. */
const ChannelPayload = z.object({
  type: z.string().max(64),
  channelConfig: ChannelConfig,
  voucher: z.object({ channelId: z.string().max(128), maxClaimableAmount: AtomicAmount, signature: Signature }),
  deposit: z
    .object({
      amount: AtomicAmount,
      authorization: z.object({
        erc3009Authorization: z
          .object({ validAfter: Seconds, validBefore: Seconds, salt: Hash, signature: Signature })
          .optional(),
      }),
    })
    .optional(),
  amount: AtomicAmount.optional(),
});
export type ChannelPayload = z.infer<typeof ChannelPayload>;

/** Content of the `PAYMENT-SIGNATURE` header (x402 v2), scheme `batch-settlement`. */
export const ChannelPayloadV2 = z.object({ ...payloadV2, payload: ChannelPayload });

/** A channel as a node shows it to the holder of its key. */
export const ChannelStateExtra = z.object({
  channelId: z.string(),
  balance: AtomicAmount,
  totalClaimed: AtomicAmount,
  withdrawRequestedAt: z.number(),
  refundNonce: z.string(),
  chargedCumulativeAmount: AtomicAmount.optional(),
});
export type ChannelStateExtra = z.infer<typeof ChannelStateExtra>;

/** Content of the `X-PAYMENT` header (x402 v1). */
export const PaymentPayloadV1 = z.object({
  x402Version: z.literal(1),
  scheme: z.string(),
  network: z.string(),
  payload: Eip3009Payload,
});

/** Content of the `PAYMENT-REQUIRED` header. */
export const PaymentRequiredV2 = z.object({
  x402Version: z.literal(2),
  error: z.string(),
  resource: z.object({ url: z.url(), description: z.string(), mimeType: z.string() }),
  accepts: z.array(RequirementsV2).min(1),
  extensions: z.record(z.string(), z.unknown()).optional(),
});
export type PaymentRequiredV2 = z.infer<typeof PaymentRequiredV2>;

/** The v1 fields at the top level of a 402 body. */
export const PaymentRequiredV1 = z.object({
  x402Version: z.literal(1),
  accepts: z
    .array(
      z.object({
        scheme: z.literal('exact'),
        network: z.string(),
        maxAmountRequired: AtomicAmount,
        resource: z.url(),
        description: z.string(),
        mimeType: z.string(),
        payTo: Address,
        maxTimeoutSeconds: z.number().positive(),
        asset: Address,
        extra: z.record(z.string(), z.unknown()),
      }),
    )
    .min(1),
});
export type PaymentRequiredV1 = z.infer<typeof PaymentRequiredV1>;

/** One entry of `accepts`, of either version, as its payer reads it: v1 has `maxAmountRequired` for `amount`. */
export const PayableTerms = z.object({
  scheme: z.string(),
  network: z.string(),
  amount: AtomicAmount,
  asset: z.string(),
  payTo: Address,
  maxTimeoutSeconds: z.number().min(1),
  extra: z.object({
    name: z.string().optional(),
    version: z.string().optional(),
    assetTransferMethod: z.string().default('eip3009'),
    paymentFlow: z.string().default('authorization'),
  }),
});
export type PayableTerms = z.infer<typeof PayableTerms>;

/** Content of the `PAYMENT-RESPONSE` and `X-PAYMENT-RESPONSE` headers. */
export const SettleResponse = z.object({
  success: z.boolean(),
  errorReason: z.string().optional(),
  payer: z.string().optional(),
  transaction: z.string(),
  network: z.string(),
  extensions: z.record(z.string(), z.unknown()).optional(),
  /** With a channel: the deposited or refunded amount, empty for a voucher. */
  amount: z.string().optional(),
  /** With a channel: the charge of the call, and the state of the channel after it. */
  extra: z.object({ chargedAmount: AtomicAmount.optional(), channelState: ChannelStateExtra.optional() }).optional(),
});
export type SettleResponse = z.infer<typeof SettleResponse>;
