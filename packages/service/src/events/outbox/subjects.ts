import type { EventType } from '@agent-network/contracts/events';

/** The subject of an event. */
export interface Subject {
  readonly type: EventType;
  readonly subjectId: string;
  readonly accountId: string;
}

/** Reads the objects of events. */
export interface Subjects {
  /** Reads subjects in other domains for events that carry no copy. The object as the matching GET returns it. Throws when it does not exist. */
  readSubject(subject: Subject): Promise<unknown>;
  /** The first of these objects, in order, until they fill the bytes; at least one. Throws when one of them does not exist. */
  readSubjects(subjects: readonly Subject[], bounds: { readonly maxBytes: number }): Promise<readonly unknown[]>;
}
