import { z } from 'zod';
import { endReasons, requestStatuses } from '../invocations/invocations.ts';
import { Id, Timestamp, TransactionHash, Usdc } from '../scalars.ts';

/** What an operator sees of the course of an invocation, in the order of what happens at the same moment. */
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
    .enum(['treasury', 'on_chain', 'credited'])
    .describe(
      'Into the treasury that had paid; by a transfer to the wallet that had paid; or, when that is not worth its gas, credited here.',
    ),
  amount: Usdc,
  state: z
    .enum(['pending', 'settled', 'failed', 'reversed', 'lost'])
    .describe('pending: signed, and not yet seen in a block; lost: in a block that the chain took back.'),
  to: z.string().describe('The treasury, the wallet, or the ledger account that it was credited to.'),
  transactionHash: TransactionHash.nullable(),
  at: Timestamp,
});

const Payment = z.object({
  paymentId: z.string(),
  purpose: z.string(),
  direction: z.enum(['in', 'out']),
  state: z.enum(paymentStates),
  amount: Usdc,
  from: z.string(),
  to: z.string(),
  transactionHash: TransactionHash.nullable(),
  blockNumber: z.int().nullable(),
  reason: z.string().nullable(),
  createdAt: Timestamp,
  endedAt: Timestamp.nullable(),
  lostAt: Timestamp.nullable().describe('Since when its block is no longer part of the chain; null: it is.'),
});

const Transfer = z.object({
  transferId: z.string(),
  kind: z.string(),
  debit: z.string(),
  credit: z.string(),
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

const Job = z.object({
  jobId: z.string(),
  name: z.string(),
  runAt: Timestamp,
  attempts: z.int().min(0),
  maxAttempts: z.int().min(0),
  isRunning: z.boolean(),
  lastError: z.string().nullable(),
});

/** What waits in a queue for an invocation. */
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
  at: Timestamp.nullable().describe('Since when it waits, or when it is due; null: it has no time.'),
});

/** Why an invocation ended as it did, what went back, and all that belongs to it. Neither what was asked nor what was answered. */
export const OperatorInvocation = z.object({
  requestId: Id,
  status: z.enum(requestStatuses),
  reason: z
    .enum(endReasons)
    .nullable()
    .describe(
      'Why it ended so, and with it why money went back; null: it is open, or was done at its price. `cancelled`: cancelled before reasons of that were stored.',
    ),
  message: z.string().nullable().describe('Of a failure, in words; an agent may have written them.'),
  accountId: Id,
  callerAgentId: Id.nullable(),
  agentId: Id,
  requestedAgentId: Id.nullable(),
  bulkId: Id.nullable(),
  paymentMethod: z.enum(['treasury', 'x402', 'free']),
  payer: z.string().nullable().describe('The ledger account that pays; null: nothing is paid.'),
  price: Usdc,
  cost: Usdc.nullable(),
  refund: z
    .object({
      amount: Usdc,
      expected: Usdc.nullable().describe(
        'Of an agent at another node: what that node gives back, and has not come yet.',
      ),
      parts: z.array(RefundPart),
    })
    .nullable()
    .describe('null: it is open.'),
  attempts: z.int().min(1).describe('How often a process took it up.'),
  processId: z.string().nullable().describe('The process that has it, or had it last; null: it waits for one.'),
  home: z
    .object({ nodeId: z.string(), requestId: z.string() })
    .nullable()
    .describe('Of an agent at another node: that node, and the id that the request has there.'),
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
  payments: z.array(Payment).describe('On chain, with what is signed and not sent yet.'),
  transfers: z.array(Transfer).describe('In the ledger.'),
  deliveries: z.array(Delivery).describe('Of webhooks, for its events and those of its payments.'),
  jobs: z.array(Job).describe('In the queue of background work, for its payments.'),
  queues: z.array(QueueEntry),
});
export type OperatorInvocation = z.infer<typeof OperatorInvocation>;
