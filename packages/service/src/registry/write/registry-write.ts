/**
 * Kinds of writes to the shared registries. `register`: an entry for an agent, or for the node itself; `uri`: the entry's new URI;
 * `transfer`: an agent's token to its owner; `retire`: the entry is no longer in use; `feedback`: about a call.
 */
export type WriteKind = 'register' | 'uri' | 'transfer' | 'retire' | 'feedback';

/** A registry call in the registrar's name. Of each kind except `uri`, a subject has at most one that has not failed. */
export interface NewWrite {
  readonly kind: WriteKind;
  /** The agent's id, or `NODE_SUBJECT` for the node itself. */
  readonly subjectId: string;
  readonly target: string;
  readonly data: string;
  /** Gas limit of the call. */
  readonly gas: bigint;
  /** The token it is about; null: the call mints it. */
  readonly tokenId: string | null;
  /** The entry's URI, for `register` and `uri`. */
  readonly uri: string | null;
}

export const NODE_SUBJECT = '';

/** `due`: to be sent; `sent`: in a transaction that is pending or mined; `done`: mined; `failed`: will never be mined. */
export type WriteState = 'due' | 'sent' | 'done' | 'failed';

export interface RegistryWrite extends NewWrite {
  readonly id: string;
  readonly state: WriteState;
  readonly transactionHash: string | null;
  readonly place: number | null;
  readonly tries: number;
  readonly blockNumber: bigint | null;
}

/** Outcomes of writes, passed on in the transaction that records them. */
export interface EndedWrites {
  readonly done: readonly RegistryWrite[];
  readonly failed: readonly RegistryWrite[];
  /** Writes that were done in a block which a reorg removed. */
  readonly undone: readonly RegistryWrite[];
}

/** Gas limit: Base takes no transaction of more than 2^24 gas. */
const MAX_GAS = 16_500_000n;
const BASE_GAS = 120_000n;

/** Gas of a transaction with these calls. */
export const gasOfAll = (writes: readonly Pick<NewWrite, 'gas'>[]): bigint =>
  writes.reduce((sum, { gas }) => sum + gas, BASE_GAS);

/** The longest prefix that fits into one transaction. A write that reverted before goes alone, as it may have caused the revert. */
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

const MAX_TRIES = 3;

/**
 * Maximum number of attempts for a write that reverts. `isOwn`: by itself, and not with the transaction that carried others too. Whom a
 * feedback is about can have it refused, as an operator of the token may give none: it would only cost gas again.
 */
export const triesOf = ({ kind }: Pick<NewWrite, 'kind'>, isOwn: boolean): number =>
  kind === 'feedback' && isOwn ? 1 : MAX_TRIES;
