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

export interface HasSubjectPages {
  /** The first of these objects, in order, until they fill the bytes; at least one. Throws when one of them does not exist. */
  readSubjects(subjects: readonly Subject[], bounds: { readonly maxBytes: number }): Promise<readonly unknown[]>;
}
