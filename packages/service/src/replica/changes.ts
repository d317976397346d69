/** What a change concerns. The triggers of the tables name it (migrations 0066, 0071). */
export type Topic = 'agent' | 'account' | 'node' | 'key' | 'wallet';

/** Ids of the rows that changed, by topic. */
export type Changes = ReadonlyMap<Topic, readonly string[]>;
