import { existsSync, readFileSync } from 'node:fs';
import { chmod, chown, copyFile, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { freePort } from '../../../src/compose/local/free-port.ts';
import { until } from '../../../src/lib/concurrency/until.ts';
import { askDatabase } from '../../support/books.ts';
import { type DatabaseProxy, startDatabaseProxy } from '../../support/database-proxy.ts';
import { type Daemon, startDaemon } from './daemon.ts';
import { binaries, postgresUser, type SystemUser } from './debian.ts';

const DEPLOY = join(import.meta.dirname, '../../../../../deploy/ha');
const PASSWORD = 'of-a-test';
const HEALTHY_MS = 120_000;
/** Writes a commit record and nothing else; acknowledged as any commit is. */
export const COMMIT = `select pg_logical_emit_message(true, 'test:ha', '')`;

export interface Member {
  readonly name: string;
  readonly port: number;
  readonly restPort: number;
  /** Address of the member, in any role. */
  readonly url: string;
  /** Proxy between it and etcd. */
  readonly toEtcd: DatabaseProxy;
  /** Whether it says itself that it is the primary. */
  isPrimary(): Promise<boolean>;
  start(): void;
  /** Kills Patroni and PostgreSQL at once, as a power cut does. */
  cutPower(): Promise<void>;
}

export interface PatroniCluster {
  readonly folder: string;
  readonly members: readonly Member[];
  /** `DATABASE_URL` with all members. */
  readonly url: string;
  /** The primary by way of HAProxy. */
  readonly proxiedUrl: string;
  leader(): Promise<Member | null>;
  /** Name of the member that holds the leader key in etcd; null: none. */
  leaderKey(): Promise<string | null>;
  /** Waits for a primary that two standbys follow, one of them synchronous, and that takes a commit by way of HAProxy. */
  untilHealthy(): Promise<void>;
  stop(): Promise<void>;
}

/** State that a member reports (`GET /patroni`). */
interface MemberState {
  readonly role?: string;
  readonly state?: string;
  readonly timeline?: number;
  /** Standbys of a primary. */
  readonly replication?: readonly { readonly state: string; readonly sync_state: string }[];
}

/** Three members under Patroni with the files of `deploy/ha`, one etcd, and HAProxy. */
export async function startPatroniCluster(): Promise<PatroniCluster> {
  const folder = await mkdtemp(join(tmpdir(), 'agent-network-ha-'));
  await chmod(folder, 0o755);
  const user = postgresUser();
  const etcd = await startEtcd(folder);
  await installPatroniFiles(folder);
  const members: Member[] = [];
  for (const name of ['db-1', 'db-2', 'db-3']) {
    const toEtcd = await startDatabaseProxy(`postgresql://etcd@127.0.0.1:${etcd.port}/etcd`);
    members.push(await createMember({ folder, user, name, toEtcd }));
  }
  for (const member of members) member.start();
  const haproxyPort = await freePort(0);
  const haproxy = startHaproxy(folder, haproxyPort, members);
  /** The member that says itself that it is the primary: others may not know yet. */
  const leader = async () => {
    for (const member of members) if (await member.isPrimary()) return member;
    return null;
  };
  const proxiedUrl = `postgresql://agent_network:${PASSWORD}@127.0.0.1:${haproxyPort}/agent_network`;
  const hosts = members.map(({ port }) => `127.0.0.1:${port}`).join(',');
  return {
    folder,
    members,
    url: `postgresql://agent_network:${PASSWORD}@${hosts}/agent_network?target_session_attrs=read-write`,
    proxiedUrl,
    leader,
    leaderKey: () => readLeaderKey(etcd.port),
    async untilHealthy() {
      const states = () => Promise.all(members.map(stateOf));
      const isHealthy = async () => (areHealthy(await states()) && (await takesCommits(proxiedUrl)) ? true : null);
      if (await until(isHealthy, { timeoutMs: HEALTHY_MS, firstMs: 100, maxMs: 500 })) return;
      throw new Error(`the cluster did not become healthy: ${JSON.stringify(await states())}; logs in ${folder}`);
    },
    async stop() {
      await haproxy.kill();
      await Promise.all(members.map((member) => member.cutPower()));
      await Promise.all(members.map(({ toEtcd }) => toEtcd.stop()));
      await etcd.daemon.kill();
      await rm(folder, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}

/** State from the member itself, as the cluster's list may be as old as the TTL. */
const stateOf = ({ restPort }: Member): Promise<MemberState> =>
  fetch(`http://127.0.0.1:${restPort}/patroni`, { signal: AbortSignal.timeout(2000) })
    .then((response) => response.json() as Promise<MemberState>)
    .catch(() => ({}));

function areHealthy(states: readonly MemberState[]): boolean {
  const primaries = states.filter(({ role }) => role === 'master' || role === 'primary');
  const following = primaries[0]?.replication?.filter(({ state }) => state === 'streaming') ?? [];
  return (
    primaries.length === 1 &&
    states.every(({ state, timeline }) => state === 'running' && timeline === primaries[0]?.timeline) &&
    following.length === states.length - 1 &&
    following.some(({ sync_state }) => sync_state === 'sync')
  );
}

const takesCommits = (url: string): Promise<boolean> =>
  askDatabase(url, COMMIT).then(
    () => true,
    () => false,
  );

/** By the JSON gateway of etcd. */
async function readLeaderKey(port: number): Promise<string | null> {
  const answer = await fetch(`http://127.0.0.1:${port}/v3/kv/range`, {
    method: 'POST',
    body: JSON.stringify({ key: Buffer.from('/service/agent-network/leader').toString('base64') }),
    signal: AbortSignal.timeout(2000),
  });
  const { kvs } = (await answer.json()) as { kvs?: { value: string }[] };
  return kvs?.[0] ? Buffer.from(kvs[0].value, 'base64').toString() : null;
}

async function startEtcd(folder: string): Promise<{ daemon: Daemon; port: number }> {
  const [port, peerPort] = [await freePort(0), await freePort(0)];
  const daemon = startDaemon({
    command: binaries['etcd-server'],
    args: [
      ...['--data-dir', join(folder, 'etcd')],
      ...['--listen-client-urls', `http://127.0.0.1:${port}`, '--advertise-client-urls', `http://127.0.0.1:${port}`],
      ...['--listen-peer-urls', `http://127.0.0.1:${peerPort}`],
      ...['--initial-advertise-peer-urls', `http://127.0.0.1:${peerPort}`],
      ...['--initial-cluster', `default=http://127.0.0.1:${peerPort}`, '--unsafe-no-fsync'],
    ],
    cwd: folder,
    logFile: join(folder, 'etcd.log'),
  });
  return { daemon, port };
}

/** The files of `deploy/ha` as they stand, but for the folders of this run. */
async function installPatroniFiles(folder: string): Promise<void> {
  const text = await readFile(join(DEPLOY, 'patroni.yml'), 'utf8');
  const placed = text
    .replace('/etc/agent-network/post-init.sh', join(folder, 'post-init.sh'))
    .replace('"/var/run/postgresql"', '""');
  await writeFile(join(folder, 'patroni.yml'), placed);
  await copyFile(join(DEPLOY, 'post-init.sh'), join(folder, 'post-init.sh'));
  await chmod(join(folder, 'post-init.sh'), 0o755);
}

interface MemberParts {
  readonly folder: string;
  readonly user: SystemUser;
  readonly name: string;
  readonly toEtcd: DatabaseProxy;
}

async function createMember({ folder, user, name, toEtcd }: MemberParts): Promise<Member> {
  const home = join(folder, name);
  await mkdir(home, { mode: 0o700 });
  await chown(home, user.uid, user.gid);
  const [port, restPort] = [await freePort(0), await freePort(0)];
  const data = join(home, 'data');
  const env = {
    PATRONI_NAME: name,
    PATRONI_RESTAPI_LISTEN: `127.0.0.1:${restPort}`,
    PATRONI_RESTAPI_CONNECT_ADDRESS: `127.0.0.1:${restPort}`,
    PATRONI_POSTGRESQL_LISTEN: `127.0.0.1:${port}`,
    PATRONI_POSTGRESQL_CONNECT_ADDRESS: `127.0.0.1:${port}`,
    PATRONI_POSTGRESQL_DATA_DIR: data,
    PATRONI_POSTGRESQL_BIN_DIR: '/usr/lib/postgresql/15/bin',
    PATRONI_POSTGRESQL_PGPASS: join(home, 'pgpass'),
    PATRONI_ETCD3_HOSTS: `127.0.0.1:${new URL(toEtcd.url).port}`,
    // It asks etcd for no other address than this: a partition cannot be gone around.
    PATRONI_ETCD3_USE_PROXIES: 'true',
    PATRONI_SUPERUSER_USERNAME: 'postgres',
    PATRONI_SUPERUSER_PASSWORD: PASSWORD,
    PATRONI_REPLICATION_USERNAME: 'replicator',
    PATRONI_REPLICATION_PASSWORD: PASSWORD,
    AGENT_NETWORK_PASSWORD: PASSWORD,
  };
  let patroni: Daemon | null = null;
  return {
    name,
    port,
    restPort,
    url: `postgresql://agent_network:${PASSWORD}@127.0.0.1:${port}/agent_network`,
    toEtcd,
    isPrimary: () =>
      fetch(`http://127.0.0.1:${restPort}/primary`, { signal: AbortSignal.timeout(2000) })
        .then(({ status }) => status === 200)
        .catch(() => false),
    start() {
      if (patroni?.isRunning()) return;
      const [command, args] = [binaries.patroni, [join(folder, 'patroni.yml')]];
      patroni = startDaemon({ command, args, env, user, cwd: home, logFile: join(folder, `${name}.log`) });
    },
    async cutPower() {
      const postmaster = postmasterOf(data);
      await patroni?.kill();
      if (postmaster === null) return;
      endProcess(postmaster);
      // Its backends end by themselves; the next start waits for them.
      while (existsSync(`/proc/${postmaster}`)) await sleep(20);
    },
  };
}

function postmasterOf(data: string): number | null {
  if (!existsSync(join(data, 'postmaster.pid'))) return null;
  return Number(readFileSync(join(data, 'postmaster.pid'), 'utf8').split('\n')[0]);
}

function endProcess(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // It has ended.
  }
}

function startHaproxy(folder: string, port: number, members: readonly Member[]): Daemon {
  const servers = members.flatMap((member, index) => [
    [`DB_${index + 1}`, `127.0.0.1:${member.port}`],
    [`DB_${index + 1}_CHECK`, String(member.restPort)],
  ]);
  return startDaemon({
    command: binaries.haproxy,
    args: ['-db', '-f', join(DEPLOY, 'haproxy.cfg')],
    env: { PRIMARY_BIND: `127.0.0.1:${port}`, ...Object.fromEntries(servers) },
    cwd: folder,
    logFile: join(folder, 'haproxy.log'),
  });
}
