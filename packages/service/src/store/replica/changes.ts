/**
 * Subject of a change. The triggers of the tables name it (migration 0118); `vector`, by the agent's id, that of migration
 * 0153; `treasury`, by the account's id, the one statement that opens ledger accounts.
 */
export type Topic = 'agent' | 'account' | 'node' | 'key' | 'wallet' | 'treasury' | 'vector';

/** Ids of the rows that changed, by topic. */
export type Changes = ReadonlyMap<Topic, readonly string[]>;
