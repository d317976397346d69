import type { EventType } from '@agent-network/contracts/events';

/** An event about a resource of an account. */
export interface NewEvent {
  readonly type: EventType;
  readonly accountId: string;
  /** The id of the resource: a request, an agent, a payment. */
  readonly subjectId: string;
  /** The data defined in the event catalogue; null for a final object, which is read when needed. */
  readonly data: unknown;
  /** Receiver besides the account's endpoints: the `webhookUrl` of a single request. */
  readonly webhookUrl?: string | null;
}
