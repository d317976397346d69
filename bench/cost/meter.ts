import { readdir, readFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';
import { nodeCpu } from '../node-cpu.ts';

/** Usage of the node and of PostgreSQL since their start. */
export interface Reading {
  readonly nodeCpuMs: number;
  readonly databaseCpuMs: number;
  readonly walBytes: number;
  readonly commits: number;
  readonly requests: number;
  readonly invocations: number;
}

/** Linux counts processor time in hundredths of a second. */
const TICK_MS = 10;
/** Sessions report their transactions at most once a second. */
const REPORTED_MS = 1_200;

/** Reads the processor time of both (user and system), the WAL written, and the work done. */
export async function readMeter(baseUrl: string, client: pg.Client): Promise<Reading> {
  await sleep(REPORTED_MS);
  const { rows } = await client.query<{ wal: string; commits: string; invocations: string; pid: number }>(
    `select pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0')::bigint as wal, pg_backend_pid() as pid,
            (select xact_commit from pg_stat_database where datname = current_database()) as commits,
            (select count(*) from invocation) as invocations`,
  );
  const [row] = rows;
  if (!row) throw new Error('the database does not answer');
  const { cpuMs, requests } = await nodeCpu(baseUrl);
  return {
    ...{ nodeCpuMs: cpuMs, requests, databaseCpuMs: await postgresCpuMs(row.pid) },
    ...{ walBytes: Number(row.wal), commits: Number(row.commits), invocations: Number(row.invocations) },
  };
}

export function differenceOf(before: Reading, after: Reading): Reading {
  const of = (key: keyof Reading) => after[key] - before[key];
  return {
    ...{ nodeCpuMs: of('nodeCpuMs'), databaseCpuMs: of('databaseCpuMs'), walBytes: of('walBytes') },
    ...{ commits: of('commits'), requests: of('requests'), invocations: of('invocations') },
  };
}

/** Processor time in ms of the server and all its processes, ended ones included. */
async function postgresCpuMs(backend: number): Promise<number> {
  const server = (await statOf(backend))?.parent;
  let ticks = 0;
  for (const name of await readdir('/proc')) {
    const stat = /^\d+$/.test(name) ? await statOf(Number(name)) : null;
    if (stat === null) continue;
    if (Number(name) === server) ticks += stat.own + stat.ended;
    else if (stat.parent === server) ticks += stat.own;
  }
  return ticks * TICK_MS;
}

/** The fields of `/proc/<pid>/stat` after the name in parentheses; null when the process has ended. */
async function statOf(pid: number) {
  const text = await readFile(`/proc/${pid}/stat`, 'latin1').catch(() => null);
  if (text === null) return null;
  const fields = text
    .slice(text.lastIndexOf(')') + 2)
    .split(' ')
    .map(Number);
  const at = (index: number) => fields[index] ?? 0;
  return { parent: at(1), own: at(11) + at(12), ended: at(13) + at(14) };
}
