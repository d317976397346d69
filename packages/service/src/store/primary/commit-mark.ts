import type pg from 'pg';
import type { DatabaseHosts } from './database-hosts.ts';
import type { PrimaryGate } from './primary-gate.ts';

const gates = new WeakMap<pg.ClientBase, PrimaryGate>();
const guarded = new WeakMap<pg.Pool, PrimaryGate>();
const unconfirmed = new WeakSet<pg.ClientBase>();

/** Function of the server that gives a wait for a standby up: its warnings come in every language, this name does not. */
const GAVE_UP_WAITING = 'SyncRepWaitForLSN';

/** Checks every new connection of a pool, by its `verify` option, and ends its connections when the gate closes. */
export function guardPool(pool: pg.Pool, gate: PrimaryGate): void {
  const { options } = pool as unknown as { options: { verify?: unknown } };
  options.verify = (client: pg.PoolClient, done: (error?: Error) => void) => {
    gate.admit(client).then(
      () => done(),
      (error: Error) => done(error),
    );
  };
  pool.on('connect', (client) => guardClient(client, gate));
  guarded.set(pool, gate);
}

/** Hosts that the pool connects to, one after the other. */
export const hostsOfPool = (pool: pg.Pool): DatabaseHosts | undefined => guarded.get(pool)?.hosts;

function guardClient(client: pg.ClientBase, gate: PrimaryGate): void {
  gates.set(client, gate);
  gate.follow(client);
  client.on('notice', ({ routine }) => {
    if (routine === GAVE_UP_WAITING) unconfirmed.add(client);
  });
}

/**
 * True if a commit on this connection was answered although no standby had it, because its wait was cancelled. The outcome is unknown: a
 * failover now would lose it.
 */
export const isUnconfirmed = (client: pg.ClientBase): boolean => unconfirmed.has(client);

const COMMIT = 'commit';
/** In one message, as a COMMIT by itself is: no round trip more. */
const MARK_AND_COMMIT = `select pg_current_xact_id_if_assigned()::text || ' ' || pg_current_wal_insert_lsn()::text as mark; ${COMMIT}`;

/**
 * Commits, and records with the gate the server's acknowledgement: id of the transaction, and the position before its commit record.
 * Resolves with the command in the server's answer.
 */
export async function commitOn(client: pg.ClientBase): Promise<string> {
  const gate = gates.get(client);
  const admission = gate?.admissionOf(client);
  if (!gate || !admission) return (await client.query(COMMIT)).command;
  const answer = (await client.query(MARK_AND_COMMIT)) as unknown as readonly pg.QueryResult<{ mark: string | null }>[];
  const [marked, committed] = answer;
  const mark = marked?.rows[0]?.mark;
  const command = committed?.command ?? '';
  if (mark && command === 'COMMIT' && !unconfirmed.has(client)) gate.acknowledged(admission, commitOf(mark));
  return command;
}

function commitOf(mark: string): { transaction: string; position: bigint } {
  const [transaction = '', high = '0', low = '0'] = mark.split(/[ /]/);
  return { transaction, position: (BigInt(`0x${high}`) << 32n) + BigInt(`0x${low}`) };
}
