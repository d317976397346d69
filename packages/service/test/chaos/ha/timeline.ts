import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { COMMIT, type Member, type PatroniCluster } from './patroni-cluster.ts';

/** When each step of a failover was first seen, by `performance.now()`. */
export interface Timeline {
  /** The key of the old primary was gone from etcd: expired, or given up. */
  keyGone?: number;
  /** Another member held the key. */
  newKey?: number;
  /** Another member said that it is the primary. */
  promoted?: number;
  /** Another member acknowledged a commit: in strict mode, a standby follows it. From here on the rest is the node's. */
  acknowledged?: number;
}

export interface TimelineWatch {
  readonly seen: Readonly<Timeline>;
  /** Resolves when another member has acknowledged a commit. */
  readonly acknowledged: Promise<void>;
  stop(): Promise<void>;
}

const LOOK_MS = 25;

/** Looks at etcd and at the other members until a failover is over. */
export function watchFailover(cluster: PatroniCluster, before: Member): TimelineWatch {
  const seen: Timeline = {};
  const others = cluster.members.filter((member) => member !== before);
  const abort = new AbortController();
  const over = () => abort.signal.aborted;
  const record = (step: keyof Timeline) => {
    seen[step] ??= performance.now();
  };
  const look = async (isSeen: () => boolean, ask: () => Promise<void>) => {
    while (!isSeen() && !over()) {
      await ask().catch(() => undefined);
      await sleep(LOOK_MS);
    }
  };
  const keys = look(
    () => seen.newKey !== undefined,
    async () => {
      const holder = await cluster.leaderKey();
      if (holder !== before.name) record('keyGone');
      if (holder !== null && holder !== before.name) record('newKey');
    },
  );
  const promotions = others.map((member) =>
    look(
      () => seen.promoted !== undefined,
      async () => {
        if (await member.isPrimary()) record('promoted');
      },
    ),
  );
  const commits = others.map((member) =>
    commitUntil(member, () => seen.acknowledged !== undefined, record, abort.signal),
  );
  const acknowledged = Promise.race([...commits]).then(() => undefined);
  return {
    seen,
    acknowledged,
    async stop() {
      abort.abort();
      await Promise.all([keys, ...promotions, ...commits]);
    },
  };
}

/** Commits on a member, by one connection, until it or another one has acknowledged a commit. */
async function commitUntil(
  { url }: Member,
  isSeen: () => boolean,
  record: (step: 'acknowledged') => void,
  signal: AbortSignal,
): Promise<void> {
  while (!isSeen() && !signal.aborted) {
    const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 1000 });
    client.on('error', () => undefined);
    const leave = () => void client.end().catch(() => undefined);
    signal.addEventListener('abort', leave, { once: true });
    try {
      await client.connect();
      while (!isSeen() && !signal.aborted) {
        await client.query(COMMIT).then(
          () => record('acknowledged'),
          // A standby refuses it; a lost connection is made anew.
          (error: { code?: string }) => {
            if (error.code === undefined || !/^(25006|55000)$/.test(error.code)) throw error;
          },
        );
        await sleep(LOOK_MS);
      }
    } catch {
      await sleep(LOOK_MS);
    } finally {
      signal.removeEventListener('abort', leave);
      await client.end().catch(() => undefined);
    }
  }
}
