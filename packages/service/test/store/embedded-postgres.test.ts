import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdtemp, readFile, readlink, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { describe, expect, onTestFinished, test } from 'vitest';
import { createLog, silentLog } from '../../src/lib/telemetry/log.ts';
import { lockDataDir } from '../../src/store/data-dir-lock.ts';
import { startEmbeddedPostgres } from '../../src/store/embedded-postgres.ts';
import { removePostgresDataDir } from '../support/remove-data-dir.ts';

const isRoot = process.getuid?.() === 0;

async function makeDataDir(): Promise<string> {
  const dataDir = await mkdtemp(join(tmpdir(), 'agent-network-test-'));
  await chmod(dataDir, 0o711);
  onTestFinished(() => removePostgresDataDir(dataDir));
  return dataDir;
}

async function startHere(dataDir: string, log = silentLog): Promise<{ url: string; stop(): Promise<void> }> {
  const postgres = await startEmbeddedPostgres({ dataDir, log });
  onTestFinished(() => postgres.stop());
  return postgres;
}

async function startInChild(dataDir: string): Promise<{ child: ChildProcess; url: string }> {
  const child = fork(join(import.meta.dirname, 'postgres-child.ts'), [dataDir], { stdio: 'inherit', detached: true });
  onTestFinished(() => void child.kill('SIGKILL'));
  const [{ url }] = (await once(child, 'message')) as [{ url: string }];
  return { child, url };
}

async function ask<Row>(url: string, statement: string): Promise<Row[]> {
  const client = new pg.Client(url);
  await client.connect();
  try {
    return (await client.query(statement)).rows as Row[];
  } finally {
    await client.end();
  }
}

async function postmasterPid(dataDir: string): Promise<number> {
  return Number((await readFile(join(dataDir, 'postgres', 'postmaster.pid'), 'utf8')).split('\n')[0]);
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

describe('embedded PostgreSQL', () => {
  test('writes through to the disk, speaks UTF-8, sorts by bytes, and keeps its password from others', async () => {
    const dataDir = await makeDataDir();
    const { url } = await startHere(dataDir);
    const [row] = await ask(
      url,
      `select current_setting('fsync') fsync, current_setting('synchronous_commit') sync, lower('Ä') lower, 'Z' < 'a' bytes`,
    );
    expect(row).toEqual({ fsync: 'on', sync: 'on', lower: 'ä', bytes: true });
    expect((await stat(join(dataDir, 'postgres.json'))).mode & 0o777).toBe(0o600);
    const stranger = new URL(url);
    stranger.password = 'guess';
    await expect(ask(stranger.href, 'select 1')).rejects.toThrow('password authentication failed');
  });

  test('stopping and starting again keeps data and address', async () => {
    const dataDir = await makeDataDir();
    const first = await startHere(dataDir);
    await ask(first.url, 'create table kept as select 1 as n');
    await first.stop();
    const second = await startHere(dataDir);
    expect(second.url).toBe(first.url);
    expect(await ask(second.url, 'select n from kept')).toEqual([{ n: 1 }]);
  });

  test('a killed service takes its server along and loses nothing; the next start finds everything', async () => {
    const dataDir = await makeDataDir();
    const { child, url } = await startInChild(dataDir);
    await ask(url, 'create table kept as select 1 as n');
    const pid = await postmasterPid(dataDir);
    // The whole group, as a terminal or a supervisor would.
    process.kill(-(child.pid ?? 0), 'SIGKILL');
    const again = await startHere(dataDir);
    expect(isAlive(pid)).toBe(false);
    expect(await ask(again.url, 'select n from kept')).toEqual([{ n: 1 }]);
  });

  test('a killed server is started again at the same address, with all that it acknowledged', async () => {
    const dataDir = await makeDataDir();
    const { url } = await startHere(dataDir);
    await ask(url, 'create table kept as select 1 as n');
    const pid = await postmasterPid(dataDir);
    process.kill(pid, 'SIGKILL');
    await expect.poll(() => isAlive(pid)).toBe(false);
    await expect.poll(() => ask(url, 'select n from kept').catch(() => 'away')).toEqual([{ n: 1 }]);
  });

  test('a killed server is started again at the same address, though what is left of it holds its memory for long', async () => {
    const dataDir = await makeDataDir();
    const lines: string[] = [];
    const log = createLog({ level: 'debug', destination: { write: (line) => void lines.push(line) } });
    const { url } = await startHere(dataDir, log);
    const client = new pg.Client(url);
    client.on('error', () => undefined);
    await client.connect();
    const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid');
    const orphan = rows[0]?.pid ?? 0;
    process.kill(orphan, 'SIGSTOP');
    onTestFinished(() => void (isAlive(orphan) && process.kill(orphan, 'SIGKILL')));
    process.kill(await postmasterPid(dataDir), 'SIGKILL');
    const refusals = () => lines.filter((line) => line.includes('pre-existing shared memory block')).length;
    await expect.poll(refusals).toBeGreaterThan(3);
    process.kill(orphan, 'SIGKILL');
    await expect.poll(() => ask(url, 'select 1 as one').catch(() => 'away')).toEqual([{ one: 1 }]);
  });

  test('a pid file whose number now belongs to another process does not hinder the start', async () => {
    const dataDir = await makeDataDir();
    const first = await startHere(dataDir);
    const pidFile = join(dataDir, 'postgres', 'postmaster.pid');
    const lines = (await readFile(pidFile, 'utf8')).split('\n');
    await first.stop();
    await writeFile(pidFile, [process.pid, ...lines.slice(1)].join('\n'));
    const second = await startHere(dataDir);
    expect(await ask(second.url, 'select 1 as one')).toEqual([{ one: 1 }]);
  });

  test.runIf(isRoot)('as root, a DATA_DIR that only root can enter gets its files placed elsewhere', async () => {
    const dataDir = await makeDataDir();
    await chmod(dataDir, 0o700);
    const first = await startHere(dataDir);
    await ask(first.url, 'create table kept as select 1 as n');
    await first.stop();
    expect(await readlink(join(dataDir, 'postgres'))).toMatch(/agent-network-[0-9a-f]{16}\/postgres$/);
    const second = await startHere(dataDir);
    expect(await ask(second.url, 'select n from kept')).toEqual([{ n: 1 }]);
  });

  test.runIf(isRoot)(
    'after a DATA_DIR was deleted, its database elsewhere does not come back in a new one',
    async () => {
      const dataDir = await makeDataDir();
      await chmod(dataDir, 0o700);
      const first = await startHere(dataDir);
      await ask(first.url, 'create table kept as select 1 as n');
      await first.stop();
      await rm(join(dataDir, 'postgres'));
      await rm(join(dataDir, 'postgres.json'));
      const second = await startHere(dataDir);
      expect(await ask(second.url, `select to_regclass('kept') as kept`)).toEqual([{ kept: null }]);
    },
  );
});

describe('the lock on a DATA_DIR', () => {
  test('a second service on one DATA_DIR gets an error with the holder', async () => {
    const dataDir = await makeDataDir();
    const lock = await lockDataDir(dataDir);
    await expect(lockDataDir(dataDir)).rejects.toThrow(`in use by another service (process ${process.pid})`);
    await lock.release();
    await (await lockDataDir(dataDir)).release();
  });

  test('the lock of a killed service is free at once', async () => {
    const dataDir = await makeDataDir();
    const { child } = await startInChild(dataDir);
    await expect(lockDataDir(dataDir)).rejects.toThrow(`process ${child.pid}`);
    child.kill('SIGKILL');
    await once(child, 'exit');
    await (await lockDataDir(dataDir)).release();
  });
});
