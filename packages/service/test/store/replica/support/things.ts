import { createMetrics } from '../../../../src/lib/metrics.ts';
import { silentLog as log } from '../../../../src/lib/telemetry/log.ts';
import { type Database, openDatabase } from '../../../../src/store/database.ts';
import { createReplica, type Replica } from '../../../../src/store/replica/replica.ts';
import type { Sql } from '../../../../src/store/sql.ts';
import { createTestDatabase } from '../../../support/test-database.ts';

/** A database with a table that processes keep copies of. */
export interface Things {
  readonly db: Database;
  /** Another process with copies of the things. */
  follow(options?: Parameters<typeof createReplica>[1] & { db?: Database }): Promise<Follower>;
  set(id: string, value: number, sql?: Sql): Promise<void>;
  stop(): Promise<void>;
}

export interface Follower {
  readonly replica: Replica;
  readonly copies: ReadonlyMap<string, number>;
  /** The table as the snapshot had it that the copies were last read from. */
  truth(): ReadonlyMap<string, number>;
  loads(): number;
}

export async function openThings(): Promise<Things> {
  const testDatabase = await createTestDatabase();
  const db = openDatabase(testDatabase.url, { log });
  await db.pool.query(`create table thing (id text primary key, value integer not null);
    create trigger thing_changed after insert or update or delete on thing for each row execute function note_replica_change('agent')`);
  const replicas: Replica[] = [];
  return {
    db,
    async follow({ db: own = db, ...options } = {}) {
      const follower = createFollower(own, options);
      replicas.push(follower.replica);
      await follower.replica.start();
      return follower;
    },
    async set(id, value, sql = db) {
      await sql.query(
        'test-set',
        'insert into thing values ($1, $2) on conflict (id) do update set value = excluded.value',
        [id, value],
      );
    },
    async stop() {
      for (const replica of replicas) replica.stop();
      await db.close();
      await testDatabase.drop();
    },
  };
}

function createFollower(db: Database, options: Parameters<typeof createReplica>[1]): Follower {
  const copies = new Map<string, number>();
  let truth: ReadonlyMap<string, number> = new Map();
  let loads = 0;
  const readAll = async (sql: Sql) => {
    const rows = await sql.query<{ id: string; value: number }>('test-all', 'select id, value from thing');
    return new Map(rows.map(({ id, value }) => [id, value]));
  };
  const replica = createReplica({ db, log, metrics: createMetrics() }, options);
  replica.add({
    topics: ['agent'],
    async load(sql) {
      loads += 1;
      truth = await readAll(sql);
      copies.clear();
      for (const [id, value] of truth) copies.set(id, value);
    },
    async read(sql, changes) {
      const ids = changes.get('agent') ?? [];
      const all = await readAll(sql);
      const step = (some: readonly string[]) => () => {
        for (const id of some) {
          const value = all.get(id);
          if (value === undefined) copies.delete(id);
          else copies.set(id, value);
        }
        truth = all;
      };
      const half = ids.length >> 1;
      return [step(ids.slice(0, half)), step(ids.slice(half))];
    },
  });
  return { replica, copies, truth: () => truth, loads: () => loads };
}
