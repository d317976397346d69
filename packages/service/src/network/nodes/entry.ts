/** Why an entry of the registry is not listed. */
export type Reason =
  /** The operator of this node refuses it. */
  | 'refused'
  // Its file could not be read.
  | 'private_address'
  | 'unreachable'
  | 'slow'
  | 'too_large'
  | 'redirect'
  | 'compressed'
  | 'bad_status'
  | 'not_there'
  | 'no_json'
  // Its file is not good.
  | 'wrong_type'
  | 'wrong_kind'
  | 'bad_file'
  | 'other_address'
  | 'other_id'
  | 'no_token'
  | 'other_token'
  | 'other_chain'
  | 'other_owner'
  /** The id of the agent is of another node. */
  | 'other_home'
  | 'no_wallet'
  | 'our_wallet'
  // Another was there before it.
  | 'duplicate'
  | 'id_taken'
  /** An agent of a node that is not listed. */
  | 'unknown_node';

/** A token of the registry that claims to be a node or an agent of one. Addresses are lower case. */
export interface Entry {
  readonly tokenId: string;
  readonly kind: 'node' | 'agent';
  readonly baseUrl: string;
  /** What one operator may hold many addresses of: a machine, or the end of a name. */
  readonly site: string;
  /** null for a node. */
  readonly agentId: string | null;
  readonly owner: string;
  readonly registeredBy: string;
  /** Since which log the token points there. */
  readonly uriBlock: bigint;
  readonly uriIndex: number;
  /** Who held the token when its URI was written. */
  readonly uriBy: string;
  readonly state: 'new' | 'listed' | 'ignored';
  readonly reason: Reason | null;
  readonly tries: number;
}

/** What is wrong with the way to a file, not with the file: what is listed stays so, as it was last good. */
const passing: ReadonlySet<Reason> = new Set([
  'unreachable',
  'slow',
  'too_large',
  'redirect',
  'compressed',
  'bad_status',
  'no_json',
] as const);
/** Of two entries for the same, the one whose token began to point there first counts, whatever the numbers of the tokens are. */
export const isBefore = (a: Place, b: Place): boolean =>
  a.uriBlock < b.uriBlock || (a.uriBlock === b.uriBlock && a.uriIndex < b.uriIndex);

type Place = Pick<Entry, 'uriBlock' | 'uriIndex'>;

/** Where asking again is of no use until something changes. */
const final: ReadonlySet<Reason> = new Set([
  'refused',
  'private_address',
  'duplicate',
  'id_taken',
  'unknown_node',
] as const);

const early: ReadonlySet<Reason> = new Set(['no_token', 'unknown_node'] as const);

const FIRST_MS = 700;
const QUICK_TRIES = 4;
const MAX_MS = 6 * 3_600_000;
/** Some five days. */
const MAX_TRIES = 35;
/** Tries that a listed entry is given: a node that is being mended is not taken down for a slip. */
const SLIPS = 4;
/** Its node follows blocks that are safe, so that it may be minutes behind the chain in who owns an agent. */
const OWNER_SLIPS = 13;

const isFinal = (reason: Reason): boolean => final.has(reason);

/** What becomes of an entry whose check ended like this, after so many tries in a row that did not go well. */
export function stateAfter({ state }: Pick<Entry, 'state'>, reason: Reason, tries: number): 'listed' | 'ignored' {
  if (state !== 'listed' || isFinal(reason)) return 'ignored';
  if (passing.has(reason)) return 'listed';
  return tries < (reason === 'other_owner' ? OWNER_SLIPS : SLIPS) ? 'listed' : 'ignored';
}

/** Whether it is worth telling: a node may be read after its agents, and sees its tokens a moment after they were made. */
export const isTold = (reason: Reason, tries: number): boolean => !early.has(reason) || tries >= QUICK_TRIES;

/** When an entry is looked at again after so many tries that did not go well; `random` in [0, 1). null: once something changes. */
export function nextTry(reason: Reason, tries: number, random: number, now: Date): Date | null {
  if ((isFinal(reason) && isTold(reason, tries)) || tries > MAX_TRIES) return null;
  const pauseMs = Math.min(MAX_MS, FIRST_MS * 2 ** Math.max(0, tries - QUICK_TRIES));
  return new Date(now.getTime() + Math.round(pauseMs * (1 + random / 4)));
}

const NODE_AGAIN_MS = 3_600_000;
const AGENT_AGAIN_MS = 24 * 3_600_000;

/** When the file of a listed entry is read again, whatever its node tells meanwhile. */
export const nextLook = (kind: Entry['kind'], random: number, now: Date): Date =>
  new Date(now.getTime() + Math.round((kind === 'node' ? NODE_AGAIN_MS : AGENT_AGAIN_MS) * (0.75 + random / 2)));
