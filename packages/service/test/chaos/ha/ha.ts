import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { freePort } from '../../../src/compose/local/free-port.ts';
import { auditEnd } from '../torture/audit-end.ts';
import { newBook } from '../torture/bank-book.ts';
import { actOnce } from '../torture/bank-clients.ts';
import { type BankWorld, startBankWorld } from '../torture/bank-world.ts';
import { createRandom } from '../torture/random.ts';
import { createTally, type Tally } from '../torture/tally.ts';
import { whyNot } from './debian.ts';
import { type FaultName, killPrimary, killProcess, partitionPrimary, type Struck, upgrade } from './faults.ts';
import { startNginx } from './nginx.ts';
import { type PatroniCluster, startPatroniCluster } from './patroni-cluster.ts';
import { type Prober, startProber } from './prober.ts';
import { line, misses, type Outage, table } from './report.ts';

const usage = `Paid load on a node of two processes behind nginx, on three PostgreSQL under Patroni: servers and processes are killed
and cut off, and then every micro-USDC is accounted for. Needs root and Debian's packages.

  npm run test:ha -- [--kills 10] [--partitions 5] [--node-kills 5] [--upgrades 1] [--clients 6] [--seed text]

Prints for each kind of fault how long no first attempt succeeded, and for each failover when its steps were. Ends with 1 after a
violation, a failover of 10 s or more, a first success more than 1 s after the database acknowledged a commit again, more failed
first attempts than were under way when a process was killed, or any during an upgrade.
`;

const { values } = parseArgs({
  options: {
    kills: { type: 'string', default: '10' },
    partitions: { type: 'string', default: '5' },
    'node-kills': { type: 'string', default: '5' },
    upgrades: { type: 'string', default: '1' },
    clients: { type: 'string', default: '6' },
    seed: { type: 'string', default: String(Date.now()) },
    help: { type: 'boolean', default: false },
  },
});

const say = (text: string) => void process.stdout.write(`${text}\n`);
const tell = (text: string) => void process.stderr.write(`${text}\n`);

/** Load between two faults. */
const REST_MS = 3_000;
const ENDS_WITHIN_MS = 180_000;

interface Stage {
  readonly cluster: PatroniCluster;
  readonly world: BankWorld;
  readonly prober: Prober;
}

function plannedFaults({ cluster, world }: Stage): [FaultName, () => Promise<Struck>][] {
  const times = (count: string, fault: (index: number) => [FaultName, () => Promise<Struck>]) =>
    Array.from({ length: Number(count) }, (_, index) => fault(index));
  return [
    ...times(values['node-kills'], (index) => ['kill of a node process', () => killProcess(world.seats, index)]),
    ...times(values.upgrades, () => ['rolling upgrade', () => upgrade(world.seats)]),
    ...times(values.kills, () => ['kill of the primary', () => killPrimary(cluster)]),
    ...times(values.partitions, () => ['partition of the primary from etcd', () => partitionPrimary(cluster)]),
  ];
}

async function strikeAll(stage: Stage): Promise<Outage[]> {
  const outages: Outage[] = [];
  for (const [fault, strike] of plannedFaults(stage)) {
    await sleep(REST_MS);
    await stage.prober.nextSuccess();
    const sinceMs = performance.now();
    const { timeline, mend } = await strike();
    const servedMs = await stage.prober.nextSuccess(timeline?.acknowledged);
    const failover = timeline ? { failover: { timeline, servedMs } } : {};
    const gapMs = stage.prober.longestGapMs(sinceMs);
    const outage = { fault, sinceMs, gapMs, ...stage.prober.attempts(sinceMs), ...failover };
    outages.push(outage);
    tell(line(outage));
    await mend();
  }
  return outages;
}

/** Runs clients and faults until the time is over, then the audit. */
async function loadAndAudit(cluster: PatroniCluster, world: BankWorld, front: string): Promise<Outage[]> {
  const book = newBook();
  const [probing, ...clients] = world.clients;
  const [, agent] = world.agents;
  if (!probing || !agent) throw new Error('there is nobody to probe with');
  const random = createRandom(values.seed, 'prober');
  const prober = startProber({ baseUrl: front, client: probing, agentId: agent.id, random, book });
  let isOver = false;
  const acting = clients.map(async (client) => {
    const random = createRandom(values.seed, client.name);
    while (!isOver) {
      await actOnce({ world, client, random, book });
      await sleep(random.int(0, 200));
    }
  });
  try {
    return await strikeAll({ cluster, world, prober });
  } finally {
    isOver = true;
    await Promise.all(acting);
    await prober.stop();
    // A member that comes back may still be starting or rewinding: the audit's connections would be lost with it.
    await cluster.untilHealthy();
    await auditEnd(world, book, ENDS_WITHIN_MS);
    tell(`${book.deals.length} purchases, ${book.deposits.length} deposits, ${book.withdrawals.length} withdrawals`);
  }
}

async function run(): Promise<{ outages: Outage[]; tally: Tally }> {
  const cluster = await startPatroniCluster();
  const tally = createTally(values.seed);
  try {
    await cluster.untilHealthy();
    const ports = [await freePort(0), await freePort(0)] as const;
    const frontPort = await freePort(0);
    const front = `http://127.0.0.1:${frontPort}`;
    const nginx = await startNginx({ folder: cluster.folder, port: frontPort, nodes: ports });
    const world = await startBankWorld({
      seed: values.seed,
      random: createRandom(values.seed, 'world'),
      tally,
      processes: 2,
      clients: Number(values.clients),
      agents: 3,
      database: { url: cluster.proxiedUrl, drop: () => Promise.resolve() },
      front,
      seatEnv: (index) => ({
        DATABASE_URL: cluster.url,
        BASE_URL: front,
        PORT: String(ports[index]),
        TRUSTED_PROXIES: '127.0.0.1',
        ALLOW_PRIVATE_ENDPOINTS: 'true',
      }),
    });
    try {
      return { outages: await loadAndAudit(cluster, world, front), tally };
    } finally {
      await world.stop();
      await nginx.kill('SIGTERM');
    }
  } finally {
    await cluster.stop();
  }
}

const reason = whyNot();
if (values.help) process.stdout.write(usage);
else if (reason !== null) say(`test:ha is skipped: ${reason}`);
else {
  const { outages, tally } = await run();
  const missed = misses(outages);
  say(tally.print());
  say(`\n${table(outages)}\n`);
  for (const text of missed) say(`missed: ${text}`);
  const isGood = tally.violations.length === 0 && missed.length === 0;
  say(
    `${isGood ? 'as promised' : 'NOT as promised'}: ${tally.violations.length} violations, ${missed.length} aims missed`,
  );
  process.exitCode = isGood ? 0 : 1;
}
