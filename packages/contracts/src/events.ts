import { z } from 'zod';
import { AgentDetail, agentEndpoints } from './agents/agents.ts';
import { BulkRecord } from './invocations/bulk.ts';
import { RequestRecord } from './invocations/invocations.ts';
import { ChainIndex } from './network/network.ts';
import { HeldPayout } from './payments/held-payouts.ts';
import { CreditedDeposits, LowBalance, Payment, Withdrawal } from './payments/payments.ts';
import { Reserves } from './payments/reserves.ts';
import { Id, Timestamp } from './scalars.ts';

const NetworkNode = z.object({ nodeId: Id, label: z.string(), baseUrl: z.string() });

const Replication = z.object({
  nodeId: Id.describe('The wallet of the node.'),
  label: z.string(),
  state: ChainIndex.shape.state.describe(
    '`live`: at the head of the chain; `syncing`: behind it and progressing; `stalled`: no progress for 30 seconds.',
  ),
  block: z.int().min(0).describe('Last block of the shared registry that this node has read.'),
  lagBlocks: z.int().min(0).describe('Blocks behind the head of the chain.'),
});

interface EventDeclaration {
  readonly when: string;
  readonly data: z.ZodObject;
}

/**
 * All events of a node, with the occasion and data of each. The data is the object that the matching GET returns, so that receivers need
 * one parser (spec, "Events"). Events of agents leave out how to call them: read `interfaces`, `protocol` and `types` with GET
 * /agents/{id}.
 */
export const eventCatalogue = {
  'invocation.completed': { when: 'Your request completed.', data: RequestRecord },
  'invocation.failed': { when: 'Your request failed; its refund has started.', data: RequestRecord },
  'invocation.cancelled': { when: 'Your request was cancelled.', data: RequestRecord },
  'invocation.input_required': {
    when: 'The agent of your request asks back; answer `inputRequest` before it expires.',
    data: RequestRecord,
  },
  'payment.confirmed': { when: 'A payment is final.', data: Payment },
  'payment.refunded': { when: 'A refund reached the payer.', data: Payment },
  'payment.failed': { when: 'A payment failed and moved no money.', data: Payment },
  'payment.held': {
    when: 'The token refuses your withdrawal or refund. The node holds the money and retries.',
    data: HeldPayout,
  },
  'deposits.confirmed': {
    when: 'More than 20 plain transfers of your wallets were credited at once: one event for all of them, instead of a `payment.confirmed` each.',
    data: CreditedDeposits,
  },
  'balance.low': {
    when: "The account's treasury has less than you set with PUT /payments/balance/alert. Sent once, until there is enough again.",
    data: LowBalance,
  },
  'agent.verified': { when: 'Your agent has proven its endpoint and its owner.', data: AgentDetail },
  'agent.online': { when: 'Your agent can be invoked.', data: AgentDetail },
  'agent.offline': { when: 'Your agent stopped answering.', data: AgentDetail },
  'agent.owner_changed': {
    when: 'The token of an agent moved to another wallet on chain. Sent to the account of the agent and to the account of that wallet.',
    data: AgentDetail,
  },
  'agent.removed': { when: 'Your agent was removed permanently.', data: agentEndpoints.removeAgent.data },
  'bulk.completed': { when: 'A bulk request has its outcome.', data: BulkRecord },
  'withdrawal.confirmed': { when: 'A withdrawal arrived in the wallet.', data: Withdrawal },
  'reserves.drift': {
    when: "The balance of the node's wallet contradicts its books, twice in a row. For keys with the scope `operator`.",
    data: Reserves,
  },
  'replication.status': {
    when: 'This node fell behind the shared registry, or caught up again. For keys with the scope `operator`, and for webhooks that name it.',
    data: Replication,
  },
  'network.node_joined': {
    when: 'A node of another operator joined the network, is listed again, or answers again. For keys with the scope `operator`, and for webhooks that name it.',
    data: NetworkNode,
  },
  'network.node_left': {
    when: 'A node of another operator stopped answering, or is no longer listed. For keys with the scope `operator`, and for webhooks that name it.',
    data: NetworkNode,
  },
} as const satisfies Record<string, EventDeclaration>;

export type EventType = keyof typeof eventCatalogue;
export const eventTypes = Object.keys(eventCatalogue) as [EventType, ...EventType[]];

export type EventData<T extends EventType> = z.output<(typeof eventCatalogue)[T]['data']>;

/** The data of a delivery: of more than 256 KiB it has no `result`, but `resultUrl`, the address that answers with the whole object. */
type DeliveredData<Data> = Data extends { readonly result: unknown }
  ? Omit<Data, 'result'> & { readonly result?: Data['result']; readonly resultUrl?: string }
  : Data;

/** The body of a delivery (Standard Webhooks 1.0, "Payload structure"); `timestamp` is when it happened, not when it was sent. */
export interface EventEnvelope<T extends EventType = EventType> {
  readonly type: T;
  readonly timestamp: string;
  readonly data: DeliveredData<EventData<T>>;
}

/** The schema of one event's envelope. */
export const eventEnvelope = (type: EventType) =>
  z.object({ type: z.literal(type), timestamp: Timestamp, data: eventCatalogue[type].data });
