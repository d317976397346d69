import { z } from 'zod';
import { endReasons, requestStatuses } from '../invocations/invocations.ts';
import { ChannelId } from '../payments/channels.ts';
import { Id, Timestamp, TransactionHash, Usdc } from '../scalars.ts';

/** Timeline events for operators, in causal order: the order of simultaneous events. */
export const operatorTimelineEvents = [
  'payment_shown',
  'created',
  'payment_settled',
  'payment_failed',
  'held',
  'started',
  'bill_signed',
  'completed',
  'failed',
  'cancelled',
  'released',
  'bill_collected',
  'bill_returned',
  'refund_signed',
  'refund_settled',
  'refund_credited',
  'webhook_delivered',
  'webhook_failed',
] as const;
export type OperatorTimelineEvent = (typeof operatorTimelineEvents)[number];

const paymentStates = ['claimed', 'broadcasting', 'settled', 'failed', 'reversed'] as const;

const RefundPart = z.object({
  way: z
    .enum(['treasury', 'channel', 'on_chain', 'credited'])
    .describe(
      'treasury: released to the paying treasury; channel: free again in the paying channel, as its next voucher is for less; on_chain: transferred to the paying wallet; credited: below its gas cost, credited at this node.',
    ),
  amount: Usdc,
  state: z
    .enum(['pending', 'settled', 'failed', 'reversed', 'lost'])
    .describe('pending: signed, not yet settled; lost: its block was removed by a reorg.'),
  to: z.string().describe('Treasury, channel, wallet, or credited ledger account.'),
  transactionHash: TransactionHash.nullable(),
  at: Timestamp,
});

const Payment = z.object({
  paymentId: z.string(),
  purpose: z.string().meta({ examples: ['refund'] }),
  direction: z.enum(['in', 'out']),
  state: z.enum(paymentStates),
  amount: Usdc,
  from: z.string().meta({ examples: ['0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913'] }),
  to: z.string().meta({ examples: ['0x8f3Cf7ad23Cd3CaDbD9735AFf958023239c6A063'] }),
  transactionHash: TransactionHash.nullable(),
  blockNumber: z
    .int()
    .nullable()
    .meta({ examples: [21_045_873] }),
  reason: z.string().nullable(),
  createdAt: Timestamp,
  endedAt: Timestamp.nullable(),
  lostAt: Timestamp.nullable().describe('Time at which a reorg removed its block; null: not removed.'),
});

const Voucher = z.object({
  channelId: ChannelId,
  voucher: Usdc.describe('Sum of the voucher that came with the call: all calls before it, and its price.'),
  reserved: Usdc.describe('Reserved in the channel as the call was admitted.'),
  reservedAt: Timestamp,
  charged: Usdc.nullable().describe('Final charge of the channel; null: still reserved.'),
  released: Usdc.nullable().describe('The released rest; null: still reserved.'),
  endedAt: Timestamp.nullable(),
});

const Transfer = z.object({
  transferId: z.string().meta({ examples: ['release:req_01k9xq3v7m2n8p4r6t0w5y1zab'] }),
  kind: z.string().meta({ examples: ['release'] }),
  debit: z.string().meta({ examples: ['hold'] }),
  credit: z.string().meta({ examples: ['trs_01k9xq3v7m2n8p4r6t0w5y1zab'] }),
  amount: Usdc,
  at: Timestamp,
});

const Delivery = z.object({
  deliveryId: z.string(),
  webhookId: z.string(),
  type: z.string(),
  state: z.enum(['pending', 'delivered', 'failed']),
  attempts: z.int().min(0),
  nextAttemptAt: Timestamp.nullable(),
  createdAt: Timestamp,
});

/** Open work for an invocation. */
const QueueEntry = z.object({
  kind: z.enum([
    'invocation_waiting',
    'event_to_tell',
    'hold_open',
    'money_to_audit',
    'home_to_ask',
    'outcome_to_count',
    'registry_write',
  ]),
  at: Timestamp.nullable().describe('Time since which it waits, or at which it is due; null: none.'),
});

/** An invocation as operators see it: reason, refund and everything that belongs to it, without input and result. */
export const OperatorInvocation = z.object({
  requestId: Id,
  status: z.enum(requestStatuses),
  reason: z
    .enum(endReasons)
    .nullable()
    .describe(
      'Reason of the end and of the refund; null: open, or completed at its price. `cancelled`: cancelled before reasons of cancellations were stored.',
    ),
  message: z
    .string()
    .meta({ examples: ['The agent answered 500.'] })
    .nullable()
    .describe('Failure message; may be written by the agent.'),
  accountId: Id,
  callerAgentId: Id.nullable(),
  agentId: Id,
  requestedAgentId: Id.nullable(),
  bulkId: Id.nullable(),
  paymentMethod: z.enum(['treasury', 'x402', 'free']),
  payer: z.string().nullable().describe('Paying ledger account; null: free.'),
  price: Usdc,
  cost: Usdc.nullable(),
  refund: z
    .object({
      amount: Usdc,
      expected: Usdc.nullable().describe(
        'For a remote agent: amount that its home node promised to refund and has not sent yet.',
      ),
      parts: z.array(RefundPart),
    })
    .nullable()
    .describe('null: the invocation is open.'),
  attempts: z.int().min(1).describe('Number of times a process took it up.'),
  processId: z.string().nullable().describe('Current or last process; null: waiting for one.'),
  home: z
    .object({ nodeId: z.string(), requestId: z.string() })
    .nullable()
    .describe('For a remote agent: its home node, and the id of the request there.'),
  createdAt: Timestamp,
  startedAt: Timestamp.nullable(),
  completedAt: Timestamp.nullable(),
  deadline: Timestamp,
  timeline: z.array(
    z.object({
      at: Timestamp,
      event: z.enum(operatorTimelineEvents),
      amount: Usdc.nullable(),
      transactionHash: TransactionHash.nullable(),
      reason: z.string().nullable(),
    }),
  ),
  payments: z.array(Payment).describe('Payments on chain, including signed payments that are not sent yet.'),
  voucher: Voucher.nullable().describe(
    'The voucher that paid for it; null: paid in another way, or deleted with the result.',
  ),
  transfers: z.array(Transfer).describe('Ledger transfers.'),
  deliveries: z.array(Delivery).describe('Webhook deliveries of its events and of the events of its payments.'),
  queues: z.array(QueueEntry),
});
export type OperatorInvocation = z.infer<typeof OperatorInvocation>;
