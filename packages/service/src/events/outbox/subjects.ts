import type { EventType } from '@agent-network/contracts/events';

/** The subject of an event. */
export interface Subject {
  readonly type: EventType;
  readonly subjectId: string;
  readonly accountId: string;
}

/** Reads subjects in other domains for events that carry no copy. */
export interface HasSubjects {
  /** The object as the matching GET returns it. Throws when it does not exist. */
  readSubject(subject: Subject): Promise<unknown>;
}
