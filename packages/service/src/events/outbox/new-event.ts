import type { EventType } from '@agent-network/contracts/events';

/** Something that happened to a thing of an account. */
export interface NewEvent {
  readonly type: EventType;
  readonly accountId: string;
  /** The id of the thing: a request, an agent, a payment. */
  readonly subjectId: string;
  /** The object that the matching GET answers with; null for one that no longer changes and is read when it is needed. */
  readonly data: unknown;
  /** Told besides the account's endpoints: the `webhookUrl` of a single request. */
  readonly webhookUrl?: string | null;
}
