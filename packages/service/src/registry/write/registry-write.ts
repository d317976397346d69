/**
 * What this node writes to the shared registries. `register`: an entry for an agent, or for the node itself; `uri`: where an entry points
 * to from now on; `transfer`: an agent's token to its owner; `retire`: the entry is of no use any more; `feedback`: of a call.
 */
export type WriteKind = 'register' | 'uri' | 'transfer' | 'retire' | 'feedback';

/** A call of a registry in the registrar's name. Of each kind a subject has one that has not failed, but for `uri`. */
export interface NewWrite {
  readonly kind: WriteKind;
  /** The agent; for the node itself `NODE_SUBJECT`. */
  readonly subjectId: string;
  readonly target: string;
  readonly data: string;
  /** The most that the call takes. */
  readonly gas: bigint;
  /** The token it is about; null: that comes of it. */
  readonly tokenId: string | null;
  /** Where the entry points to, of `register` and `uri`. */
  readonly uri: string | null;
}

export const NODE_SUBJECT = '';

/** `due`: to be sent; `sent`: in a transaction that may be on its way or in a block; `done`: in a block; `failed`: never will be. */
export type WriteState = 'due' | 'sent' | 'done' | 'failed';

export interface RegistryWrite extends NewWrite {
  readonly id: string;
  readonly state: WriteState;
  readonly transactionHash: string | null;
  readonly place: number | null;
  readonly tries: number;
  readonly blockNumber: bigint | null;
}

/** What came of writes, told in the transaction that notes it. */
export interface EndedWrites {
  readonly done: readonly RegistryWrite[];
  readonly failed: readonly RegistryWrite[];
  /** Were done, in a block that a reorg took back. */
  readonly undone: readonly RegistryWrite[];
}

/** Base takes no transaction of more than 2^24 gas. */
const MAX_GAS = 16_500_000n;
const BASE_GAS = 120_000n;

/** Gas for a transaction with these calls. */
export const gasOfAll = (writes: readonly Pick<NewWrite, 'gas'>[]): bigint =>
  writes.reduce((sum, { gas }) => sum + gas, BASE_GAS);

/** The first of these that go into one transaction. What the chain undid once goes alone: it may have been to blame, or not. */
export function firstBatch<W extends Pick<RegistryWrite, 'gas' | 'tries'>>(due: readonly W[]): W[] {
  const [first, ...others] = due;
  if (!first) return [];
  if (first.tries > 0) return [first];
  const batch = [first];
  for (const each of others) {
    if (each.tries > 0 || gasOfAll([...batch, each]) > MAX_GAS) break;
    batch.push(each);
  }
  return batch;
}

/** How often a write is sent that the chain undoes. */
export const MAX_TRIES = 3;
