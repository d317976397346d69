/** A server as it describes itself on a new connection. Positions are bytes of WAL since its beginning. */
export interface ServerPosition {
  readonly systemId: string;
  readonly isStandby: boolean;
  /** False if it acknowledges commits before they are on disk (`synchronous_commit` is off): it promises nothing. */
  readonly isPromising: boolean;
  /** Rises by one with each promotion; null on a standby. */
  readonly timeline: number | null;
  readonly position: bigint | null;
  /** End of the WAL that it replayed before it was promoted, or last started after a crash; null if it replayed none. */
  readonly replayedTo: bigint | null;
  /** Promised transactions that it has not committed. */
  readonly missing: readonly string[];
}

/** The latest commits that this node was acknowledged. */
export interface Promised {
  readonly systemId: string;
  readonly timeline: number;
  /** Highest position of a transaction with an acknowledged commit. */
  readonly position: bigint;
  /** Ids of the last acknowledged transactions. */
  readonly transactions: readonly string[];
  /** Time at which an operator last accepted a hole before these commits, in microseconds; 0: never. */
  readonly acceptedAt: bigint;
}

export type ServerVerdict =
  | { readonly kind: 'good' }
  | { readonly kind: 'standby' }
  /** The server lacks acknowledged commits. */
  | { readonly kind: 'hole'; readonly reason: string };

const hole = (reason: string): ServerVerdict => ({ kind: 'hole', reason });

/** Judges whether a server has every acknowledged commit. `acceptedAt`: when an operator last accepted a hole in it; 0: never. */
export function judgeServer(server: ServerPosition, promised: Promised | null, acceptedAt: bigint): ServerVerdict {
  if (server.isStandby || server.timeline === null || server.position === null) return { kind: 'standby' };
  if (promised === null || acceptedAt > promised.acceptedAt) return { kind: 'good' };
  if (server.systemId !== promised.systemId) return hole('it is another database cluster (system identifier)');
  if (server.timeline < promised.timeline)
    return hole(`it is on timeline ${server.timeline}; commits were acknowledged on timeline ${promised.timeline}`);
  if (server.timeline === promised.timeline && server.position < promised.position)
    return hole(`it ends ${promised.position - server.position} bytes of WAL before the last acknowledged commit`);
  // The commit itself is written after the position that was noted.
  if (server.timeline > promised.timeline && server.replayedTo !== null && server.replayedTo <= promised.position)
    return hole(
      `it was promoted ${promised.position - server.replayedTo} bytes of WAL before the last acknowledged commit`,
    );
  if (server.missing.length > 0)
    return hole(
      `${server.missing.length} of the last ${promised.transactions.length} acknowledged commits are missing`,
    );
  return { kind: 'good' };
}

/** Number of latest transactions that are remembered: more than commit at once. */
const REMEMBERED = 64;

export interface Commit {
  readonly systemId: string;
  readonly timeline: number;
  readonly position: bigint;
  readonly transaction: string;
  readonly acceptedAt: bigint;
}

/** Adds an acknowledged commit. One of an earlier server, acknowledged late, adds nothing. */
export function withCommit(promised: Promised | null, commit: Commit): Promised {
  const { systemId, timeline, position, transaction, acceptedAt } = commit;
  if (promised === null || isLater(commit, promised))
    return { systemId, timeline, position, transactions: [transaction], acceptedAt };
  if (promised.systemId !== systemId || promised.timeline !== timeline || promised.acceptedAt !== acceptedAt)
    return promised;
  return {
    ...promised,
    position: position > promised.position ? position : promised.position,
    transactions: [...promised.transactions.slice(1 - REMEMBERED), transaction],
  };
}

/** True if the commit is of a server that took over after those of `promised`. */
const isLater = (commit: Commit, promised: Promised): boolean =>
  commit.acceptedAt > promised.acceptedAt ||
  (commit.acceptedAt === promised.acceptedAt &&
    commit.systemId === promised.systemId &&
    commit.timeline > promised.timeline);

/** The later of two promises: of a later word, of a later timeline, of a higher position. */
export function laterOf(own: Promised | null, others: Promised): Promised {
  if (own === null || others.acceptedAt > own.acceptedAt) return others;
  if (others.acceptedAt < own.acceptedAt || others.systemId !== own.systemId) return own;
  if (others.timeline !== own.timeline) return others.timeline > own.timeline ? others : own;
  return others.position > own.position ? others : own;
}
