import { z } from 'zod';
import { requestStatuses } from '../invocations/invocations.ts';
import { Id, WalletAddress } from '../scalars.ts';
import { invocationReceiptTypes, receiptVersions } from './receipt-types.ts';

const Hash = z
  .string()
  .regex(/^0x[0-9a-f]{64}$/)
  .meta({ examples: [`0x${'5'.repeat(64)}`] });
const Units = z
  .string()
  .regex(/^(0|[1-9]\d{0,18})$/)
  .meta({ examples: ['50000'] });
const Seconds = z
  .int()
  .min(0)
  .meta({ examples: [1_795_255_200] });

/**
 * The statement that a node signs about a request that has ended. Its shape never changes: another one gets another version of the domain.
 */
export const InvocationReceipt = z.object({
  requestId: Id,
  node: z
    .url()
    .describe('Base address of the node that issued it.')
    .meta({ examples: ['https://node.example'] }),
  agentId: Id,
  owner: WalletAddress.describe('Owner of the agent when the receipt was issued.'),
  payer: z
    .string()
    .describe('The paying wallet, or the id of the paying treasury; empty for a free call.')
    .meta({ examples: ['trs_01k9xq3v7m2n8p4r6t0w5y1zab'] }),
  paymentMethod: z.enum(['treasury', 'x402', 'free']),
  asset: WalletAddress.describe('The token of the amounts: USDC.'),
  price: Units.describe('The agreed price, in units of 0.000001 USDC as all amounts here.'),
  cost: Units.describe('The amount charged, as of `issuedAt`.'),
  refund: Units.describe('The part of the price that is not charged: returned, or owed, to the payer.').meta({
    examples: ['0'],
  }),
  transaction: z
    .string()
    .describe('The transaction that paid; empty when there was none of its own.')
    .meta({ examples: [''] }),
  channel: z
    .string()
    .describe('The payment channel that paid; empty when none did.')
    .meta({ examples: [''] }),
  status: z.enum(
    requestStatuses.filter((status) => status !== 'pending' && status !== 'processing' && status !== 'input_required'),
  ),
  taskHash: Hash.describe('SHA-256 of the canonical JSON (RFC 8785) of `task`.'),
  inputHash: Hash.describe('SHA-256 of the canonical JSON of `input`.'),
  contextHash: Hash.describe('SHA-256 of the canonical JSON of `context`, or of `null` when there was none.'),
  resultHash: Hash.describe('SHA-256 of the canonical JSON of `result`; all zeros when the request has not completed.'),
  createdAt: Seconds,
  completedAt: Seconds,
  issuedAt: Seconds,
  usageHash: Hash.optional().describe(
    'Version 2: SHA-256 of the canonical JSON of `usage`; all zeros where there is none. Version 1, of requests without usage and files, lacks it.',
  ),
  filesHash: Hash.optional().describe(
    'Version 2: SHA-256 of the canonical JSON of the ids (`$file`) of the files in input and result, each once and sorted; all zeros where there are none.',
  ),
});
export type InvocationReceipt = z.infer<typeof InvocationReceipt>;

/** A signed receipt: the arguments of `verifyTypedData`, and the wallet that signed. */
export const SignedReceipt = z.object({
  signer: WalletAddress.describe('Wallet of the node. Compare it with the address that you paid to.'),
  signature: z.string().regex(/^0x[0-9a-f]{130}$/),
  domain: z.object({
    name: z.literal('agent-network receipt'),
    version: z.enum(receiptVersions),
    chainId: z.int().min(1),
  }),
  types: z
    .object({ InvocationReceipt: z.array(z.object({ name: z.string(), type: z.string() })) })
    .describe('For tools that need them. A verifier uses types that it knows.')
    .meta({ examples: [{ InvocationReceipt: [...invocationReceiptTypes.InvocationReceipt] }] }),
  primaryType: z.literal('InvocationReceipt'),
  message: InvocationReceipt,
});
export type SignedReceipt = z.infer<typeof SignedReceipt>;
