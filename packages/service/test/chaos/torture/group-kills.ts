import { chmod, mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { freePort } from '../../../src/compose/local/free-port.ts';
import { removePostgresDataDir } from '../../support/remove-data-dir.ts';
import { auditEnd } from './audit-end.ts';
import { newBook } from './bank-book.ts';
import { actOnce } from './bank-clients.ts';
import { type LocalGroup, localGroup } from './local-group.ts';
import { type LocalWorld, startLocalWorld } from './local-world.ts';
import { createRandom, type Random } from './random.ts';
import { createTally, type Tally } from './tally.ts';

export interface GroupKillOptions {
  readonly seed: string;
  readonly kills: number;
  readonly clients?: number;
  /** How long it may take until nothing is open in the end. */
  readonly restsWithinMs?: number;
}

/** The longest time between a start and its kill; now and then it is longer, so that more than beginnings is done. */
const LIVES_MS = 2500;
const LIVES_LONG_MS = 8000;
const LIVES_LONG = 0.15;
const MAX_ROUND_MS = 40_000;
/** How often the start itself is killed. */
const KILLED_ON_THE_WAY = 0.2;
const STARTS_WITHIN_MS = 5000;
/** Probability that a new client joins, with a wallet that a third party has just funded. */
const JOINS = 0.25;
const MAX_CLIENTS = 24;
const PASSING = 3;

/**
 * Kills `npm start` with all of its processes, again and again, while clients buy, pay in and out, and others send plain transfers on its
 * chain. It must start every time; the chain must keep every transaction that had a receipt, in its block; and in the end every purchase
 * must have run and been paid once.
 */
export async function runGroupKills({
  seed,
  kills,
  clients = 5,
  restsWithinMs = 120_000,
}: GroupKillOptions): Promise<Tally> {
  const tally = createTally(seed);
  const dataDir = await mkdtemp(join(tmpdir(), 'agent-network-group-kills-'));
  // As root, PostgreSQL's own user has to get in.
  await chmod(dataDir, 0o711);
  const group = localGroup(dataDir, { PORT: String(await freePort(0)), LOG_LEVEL: 'fatal' });
  try {
    const untilAnsweredMs = kills * MAX_ROUND_MS + restsWithinMs;
    const world = await startLocalWorld({ group, tally, clients, untilAnsweredMs });
    await killAndAudit(world, group, { seed, kills, restsWithinMs });
    await world.stop();
  } finally {
    await group.kill();
    await removePostgresDataDir(dataDir);
  }
  return tally;
}

async function killAndAudit(
  world: LocalWorld,
  group: LocalGroup,
  { seed, kills, restsWithinMs }: Required<Omit<GroupKillOptions, 'clients'>>,
): Promise<void> {
  const { tally } = world;
  const book = newBook();
  const killing = createRandom(seed, 'kills');
  let isOver = false;
  const act = async (client: LocalWorld['clients'][number]) => {
    const random = createRandom(seed, client.name);
    while (!isOver) {
      await actOnce({ world, client, random, book });
      await sleep(random.int(0, 200));
    }
  };
  const acting = world.clients.map(act);
  const joining: Promise<void>[] = [];
  const joinAndAct = async () => {
    const client = await world.join().catch((error: unknown) => {
      tally.violation(`nobody could join: ${error instanceof Error ? error.message : error}`);
    });
    tally.count('requests', 'a client joined, funded by a plain transfer');
    if (client) acting.push(act(client));
  };
  const passing = Array.from({ length: PASSING }, async (_, index) => {
    const random = createRandom(seed, 'passing', index);
    while (!isOver) {
      await world.passBy(random);
      await sleep(random.int(0, 100));
    }
  });
  let killed = 0;
  while (killed < kills) {
    if (joining.length < MAX_CLIENTS && killing.chance(JOINS)) joining.push(joinAndAct());
    await sleep(killing.int(50, killing.chance(LIVES_LONG) ? LIVES_LONG_MS : LIVES_MS));
    if (!(await killOnce(world, group, killing))) break;
    killed += 1;
    process.stderr.write(`\r${killed} of ${kills} kills, violations ${tally.violations.length} `);
  }
  isOver = true;
  await Promise.all(joining);
  await Promise.all([...acting, ...passing]);
  tally.count('readings', `${world.thirdParties.seen()} receipts of third parties seen`);
  if (group.current()) await auditEnd(world, book, restsWithinMs);
}

/** One kill, perhaps another one during the start, and a start. Answers whether the node runs. */
async function killOnce(
  { tally, thirdParties, chain }: LocalWorld,
  group: LocalGroup,
  random: Random,
): Promise<boolean> {
  await group.kill();
  tally.count('faults', 'everything killed');
  if (random.chance(KILLED_ON_THE_WAY)) {
    await group.startAndKill(random.int(0, STARTS_WITHIN_MS));
    tally.count('faults', 'killed while it started');
  }
  try {
    const tookMs = await group.start();
    tally.count('readings', `started within ${Math.ceil(tookMs / 5000) * 5} s`);
  } catch (error) {
    tally.violation(`it does not start again: ${error instanceof Error ? error.message : error}`);
    return false;
  }
  const rpcUrl = group.current()?.local.chain.rpcUrl;
  if (rpcUrl !== chain.rpcUrl) tally.violation(`the chain was at ${chain.rpcUrl}, and is at ${rpcUrl}`);
  for (const each of await thirdParties.contradictions()) tally.violation(each);
  tally.count('readings', 'receipts of third parties compared');
  return true;
}
