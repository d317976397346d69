/** Reasons to ignore an entry of the registry. */
export const reasons = [
  /** The operator of this node refuses it. */
  'refused',
  // Its file could not be read.
  'private_address',
  'unreachable',
  'slow',
  'too_large',
  'redirect',
  'compressed',
  'bad_status',
  'not_there',
  'no_json',
  // Its file is not valid.
  'wrong_type',
  'wrong_kind',
  'bad_file',
  'other_address',
  'other_id',
  'no_token',
  'other_token',
  'other_chain',
  'other_owner',
  /** The agent's id belongs to another node. */
  'other_home',
  'no_wallet',
  'our_wallet',
  // An earlier entry exists.
  'duplicate',
  'id_taken',
  /** The agent's node is not listed. */
  'unknown_node',
] as const;
export type Reason = (typeof reasons)[number];

/** A registry token that claims to be a node or an agent of one. Addresses are lower case. */
export interface Entry {
  readonly tokenId: string;
  readonly kind: 'node' | 'agent';
  readonly baseUrl: string;
  /** Unit that one operator can fill with addresses at no cost: a machine, or the registrable end of a name. */
  readonly site: string;
  /** null for a node. */
  readonly agentId: string | null;
  readonly owner: string;
  readonly registeredBy: string;
  /** Block since which the token points there. */
  readonly uriBlock: bigint;
  readonly uriIndex: number;
  /** Key that wrote the URI. */
  readonly uriBy: string;
  readonly state: 'new' | 'listed' | 'ignored';
  readonly reason: Reason | null;
  readonly tries: number;
  /** Next check. Of an entry that is being checked: when the check counts as lost, unless it was woken since. */
  readonly nextTryAt: Date | null;
}

/** True if the same key claims the same about the same subject, so that a judgement of one token holds for the other. */
export const isSameClaim = (a: Entry, b: Entry): boolean =>
  (
    [
      'kind',
      'baseUrl',
      'agentId',
      'owner',
      'registeredBy',
      'uriBlock',
      'uriIndex',
      'uriBy',
    ] as const satisfies (keyof Entry)[]
  ).every((field) => a[field] === b[field]);

/** Temporary failures of reading a file: a listed entry stays listed with its last valid file. */
const passing: ReadonlySet<Reason> = new Set([
  'unreachable',
  'slow',
  'too_large',
  'redirect',
  'compressed',
  'bad_status',
  'no_json',
] as const);
/** Orders two entries for the same subject: the token that pointed there first wins, regardless of the token numbers. */
export const isBefore = (a: UriPosition, b: UriPosition): boolean =>
  a.uriBlock < b.uriBlock || (a.uriBlock === b.uriBlock && a.uriIndex < b.uriIndex);

type UriPosition = Pick<Entry, 'uriBlock' | 'uriIndex'>;

/** Reasons that only a change can clear; no retry. */
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
/** About five days. */
const MAX_TRIES = 35;
/** Retries of a listed entry before it is unlisted, so that a short fault of its node does no harm. */
const SLIPS = 4;
/** The home node follows safe blocks, so its view of an owner may be minutes behind the chain. */
const OWNER_SLIPS = 13;

const isFinal = (reason: Reason): boolean => final.has(reason);

/** State of an entry after a check with this result and this number of consecutive failures. */
export function stateAfter({ state }: Pick<Entry, 'state'>, reason: Reason, tries: number): 'listed' | 'ignored' {
  if (state !== 'listed' || isFinal(reason)) return 'ignored';
  if (passing.has(reason)) return 'listed';
  return tries < (reason === 'other_owner' ? OWNER_SLIPS : SLIPS) ? 'listed' : 'ignored';
}

/** True when the reason is worth a log entry: a node may be read after its agents, and sees its new tokens with a delay. */
export const isTold = (reason: Reason, tries: number): boolean => !early.has(reason) || tries >= QUICK_TRIES;

/** Time of the next check after consecutive failures; `random` in [0, 1). null: only after a change. */
export function nextTry(reason: Reason, tries: number, random: number, now: Date): Date | null {
  if ((isFinal(reason) && isTold(reason, tries)) || tries > MAX_TRIES) return null;
  const pauseMs = Math.min(MAX_MS, FIRST_MS * 2 ** Math.max(0, tries - QUICK_TRIES));
  return new Date(now.getTime() + Math.round(pauseMs * (1 + random / 4)));
}

const NODE_AGAIN_MS = 3_600_000;
const AGENT_AGAIN_MS = 24 * 3_600_000;

/** Time of the next check of a listed entry, independent of its node's feed. */
export const nextLook = (kind: Entry['kind'], random: number, now: Date): Date =>
  new Date(now.getTime() + Math.round((kind === 'node' ? NODE_AGAIN_MS : AGENT_AGAIN_MS) * (0.75 + random / 2)));
