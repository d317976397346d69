import type { EventType } from '@agent-network/contracts/events';

/** What an event happened to. */
export interface Subject {
  readonly type: EventType;
  readonly subjectId: string;
  readonly accountId: string;
}

/** Reads the things of other domains whose events carry no copy of them. */
export interface HasSubjects {
  /** The object that the matching GET answers with. Throws when there is no such thing. */
  readSubject(subject: Subject): Promise<unknown>;
}
