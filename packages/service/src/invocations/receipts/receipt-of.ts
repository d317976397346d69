import type { InvocationReceipt } from '@agent-network/contracts/payments/receipts';
import type { NodeIdentity } from '../../chain/chain-info.ts';
import { hexOf, readContentHashes } from '../content-hashes.ts';
import type { InvocationState } from '../record-store.ts';

const seconds = (date: Date) => Math.floor(date.getTime() / 1000);

/** A request that has ended, with what a receipt says beside its record. */
export interface Receipted {
  readonly invocation: InvocationState;
  readonly completedAt: Date;
  readonly status: InvocationReceipt['status'];
  /** Owner of the agent. */
  readonly owner: string;
  /** Hashes of the task, and of input, context and result. */
  readonly hashes: { readonly task: Buffer; readonly contents: Buffer };
  readonly paidBy: PaidBy;
}

/** The payer: a wallet, by a transaction or through a channel, or a treasury; empty where there is none. */
export interface PaidBy {
  readonly payer: string;
  readonly channel: string;
}

/** The statement about a request that the node signs. */
export function receiptOf(
  { baseUrl, chain }: NodeIdentity,
  { invocation, completedAt, status, owner, hashes, paidBy }: Receipted,
  now: Date,
): InvocationReceipt {
  const { priceMicro, costMicro, refundMicro } = invocation;
  return {
    requestId: invocation.id,
    node: baseUrl,
    agentId: invocation.agentId,
    owner,
    payer: paidBy.payer,
    paymentMethod: invocation.paymentMethod,
    asset: chain.token,
    price: String(priceMicro),
    cost: String(costMicro ?? 0n),
    refund: String(refundMicro ?? 0n),
    transaction: invocation.paymentHash ?? '',
    channel: paidBy.channel,
    status,
    taskHash: hexOf(hashes.task),
    ...readContentHashes(hashes.contents),
    createdAt: seconds(invocation.createdAt),
    completedAt: seconds(completedAt),
    issuedAt: seconds(now),
  };
}
