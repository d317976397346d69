import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { askDatabase } from '../../support/books.ts';
import { leaveOutLogs, type RpcCall } from '../../support/rpc-proxy.ts';
import { checkToken } from './audit-balances.ts';
import type { BankWorld } from './bank-world.ts';
import type { Random } from './random.ts';

const FAULTS = {
  kill: 20,
  freeze: 12,
  dropConnections: 15,
  vanishDatabase: 8,
  hangConnections: 10,
  disturbChain: 40,
  lockAccount: 12,
  reorganise: 13,
  leaveOutLogs: 15,
  refuseTokens: 8,
} as const;

const METHODS = [
  'eth_sendRawTransaction',
  'eth_getTransactionReceipt',
  'eth_call',
  'eth_getBlockByNumber',
  'eth_blockNumber',
  'eth_getLogs',
] as const;

const DISTURBANCES = { delayed: 4, lost: 4, refused: 2, 'cut off': 2 } as const;

export interface Nemesis {
  /** Ends all trouble: nothing is disturbed, frozen or dead from here on. */
  stop(): Promise<void>;
}

export interface NemesisOptions {
  /** Blocks are taken back only from a node that is made for it. */
  readonly reorganises: boolean;
  /** The longest pause between two faults. */
  readonly pauseMs: number;
}

/** Does to processes, connections and the chain what a bad day does, one thing after the other, in an order that the seed gives. */
export function startNemesis(world: BankWorld, random: Random, options: NemesisOptions): Nemesis {
  const stopping = new AbortController();
  const ending: Promise<unknown>[] = [];
  const later = (afterMs: number, what: () => void) =>
    ending.push(
      sleep(afterMs, undefined, { signal: stopping.signal })
        .catch(() => undefined)
        .then(what),
    );
  const strike = async (): Promise<string> => {
    const fault = random.weighted(options.reorganises ? FAULTS : { ...FAULTS, reorganise: 0 });
    switch (fault) {
      case 'kill':
        random.pick(world.seats).kill(random.int(0, 2000));
        return 'a process killed';
      case 'freeze': {
        const seat = random.pick(world.seats);
        const isTakenForDead = random.chance(0.25);
        seat.freeze();
        later(isTakenForDead ? random.int(12_000, 16_000) : random.int(300, 4000), () => seat.thaw());
        return isTakenForDead ? 'a process frozen until it counts as dead' : 'a process frozen';
      }
      case 'dropConnections':
        await dropConnections(world.databaseUrl, random);
        return 'database connections dropped';
      case 'vanishDatabase':
        return vanishDatabase(world, random, later);
      case 'hangConnections':
        return hangConnections(world, random, later);
      case 'lockAccount':
        return keepAccountLocked(world, random, later);
      case 'disturbChain':
        return disturbChain(world, random, later);
      case 'leaveOutLogs':
        leaveOutLogs(world.proxy, random.int(1, 4));
        later(random.int(300, 6000), () => world.proxy.rule('eth_getLogs', null));
        return 'logs of the newest blocks left out';
      case 'refuseTokens':
        return refuseTokens(world, random, later);
      case 'reorganise':
        return reorganise(world, random);
    }
  };
  const loop = async () => {
    while (!stopping.signal.aborted) {
      await sleep(random.int(50, options.pauseMs), undefined, { signal: stopping.signal }).catch(() => undefined);
      if (stopping.signal.aborted) return;
      const done = await strike().catch(() => 'a fault that did not work');
      world.tally.count('faults', done);
    }
  };
  const looping = loop();
  return {
    async stop() {
      stopping.abort();
      await looping;
      await Promise.all(ending);
      for (const method of METHODS) world.proxy.rule(method, null);
      world.databaseProxy.set('open');
      world.databaseProxy.forgetMute();
      await world.bankChain.accept();
      for (const seat of world.seats) seat.thaw();
      await Promise.all(world.seats.map((seat) => seat.untilTaken()));
    },
  };
}

async function dropConnections(databaseUrl: string, random: Random): Promise<void> {
  const share = random.pick([0.2, 0.5, 1]);
  await askDatabase(
    databaseUrl,
    `select pg_terminate_backend(pid) from pg_stat_activity
      where datname = current_database() and pid <> pg_backend_pid() and random() < $1`,
    [share],
  );
}

/** Silences old and new connections to the database without closing them, so that clients have to detect it themselves. */
function vanishDatabase(world: BankWorld, random: Random, later: (afterMs: number, what: () => void) => void): string {
  const isTakenForDead = random.chance(0.25);
  world.databaseProxy.set('silent');
  later(isTakenForDead ? random.int(12_000, 20_000) : random.int(300, 5000), () => {
    world.databaseProxy.set('open');
    world.databaseProxy.forgetMute();
  });
  return `the database's host vanished${isTakenForDead ? ', for long' : ''}`;
}

/** Some connections hang for good: whoever uses them has to notice, and come back. */
async function hangConnections(
  world: BankWorld,
  random: Random,
  later: (afterMs: number, what: () => void) => void,
): Promise<string> {
  const connections = await askDatabase<{ port: number }>(
    world.databaseUrl,
    `select client_port as port from pg_stat_activity
      where datname = current_database() and pid <> pg_backend_pid() and client_port > 0 and random() < $1`,
    [random.pick([0.1, 0.3])],
  );
  world.databaseProxy.mute(new Set(connections.map(({ port }) => port)));
  later(random.int(5000, 15_000), () => world.databaseProxy.forgetMute());
  return 'database connections hang';
}

/** A transaction that never ends has locked one account of the ledger, of whomever. */
async function keepAccountLocked(
  world: BankWorld,
  random: Random,
  later: (afterMs: number, what: () => void) => void,
): Promise<string> {
  const client = new pg.Client(world.databaseUrl);
  client.on('error', () => undefined);
  await client.connect();
  await client.query('begin');
  const { rows } = await client.query<{ kind: string }>(
    `select kind from ledger_account where kind <> 'suspense' order by md5(id || $1) limit 1 for update skip locked`,
    [String(random.int(0, 1_000_000))],
  );
  later(random.int(300, 8000), () => void client.end().catch(() => undefined));
  return `an account locked: ${rows[0]?.kind ?? 'none'}`;
}

/** For a while, calls of one method meet with trouble, each by its own luck. */
function disturbChain(world: BankWorld, random: Random, later: (afterMs: number, what: () => void) => void): string {
  const method = random.pick(METHODS);
  const kind = random.weighted(DISTURBANCES);
  const share = random.pick([0.3, 0.7, 1]);
  const delayMs = random.int(100, 3000);
  world.proxy.rule(method, async (call: RpcCall) => {
    if (!random.chance(share)) return call.forward();
    if (kind === 'refused') return call.refuse('the chain is busy');
    if (kind === 'cut off') return null;
    if (kind === 'delayed') await sleep(delayMs);
    const answer = await call.forward();
    return kind === 'lost' ? null : answer;
  });
  later(random.int(300, 3000), () => world.proxy.rule(method, null));
  return `${method} ${kind}`;
}

/** The token is paused, or its administrator refuses the node's wallet, for a while. */
async function refuseTokens(
  world: BankWorld,
  random: Random,
  later: (afterMs: number, what: () => void) => void,
): Promise<string> {
  const what = random.pick(['pause', 'blacklist'] as const);
  await world.bankChain.refuse(what);
  later(random.int(300, 4000), () => void world.bankChain.accept().catch(() => undefined));
  return what === 'pause' ? 'the token paused' : "the node's wallet blacklisted";
}

async function reorganise(world: BankWorld, random: Random): Promise<string> {
  // Now and then as deep as any amount asks for: what was taken for final has to be collected again.
  const depth = random.chance(0.1) ? 12 : random.int(1, 3);
  await world.bankChain.reorganise(depth);
  if (!(await checkToken(world))) world.tally.violation(`the chain contradicts itself after a reorg of ${depth}`);
  return `${depth} block${depth === 1 ? '' : 's'} reorganised`;
}
