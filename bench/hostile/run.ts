/** Attacks a node of its own and checks what that costs it and others, by the table in bounds.ts. See ../README.md. */
import { fork } from 'node:child_process';
import { availableParallelism, loadavg } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { generatePrivateKey, privateKeyToAddress } from 'viem/accounts';
import { type StopList, withStopList } from '../stop-list.ts';
import { attacks } from './attacks/all.ts';
import { boundsOf } from './bounds.ts';
import type { HonestFigures } from './honest.ts';
import { attackerAddress } from './limits.ts';
import { type Row, tableOf, violationsOf } from './report.ts';
import type { AttackResult, Site } from './site.ts';
import { watchNode } from './watch-node.ts';
import { startWorld, type World } from './world.ts';

const FREE_ACCOUNTS = 3;
/** Between an attack and the next quiet time. */
const PAUSE_MS = 5000;

const { values } = parseArgs({ options: { seconds: { type: 'string', default: '60' }, only: { type: 'string' } } });
const seconds = Number(values.seconds);
const names = values.only?.split(',') ?? Object.keys(attacks);
const unknown = names.filter((name) => !attacks[name]);
if (!(seconds >= 1 && seconds <= 600) || unknown.length > 0) {
  console.error(`--seconds must be 1 to 600, and --only one or more of ${Object.keys(attacks).join(', ')}.`);
  process.exit(2);
}

/** The honest account works beside something, and until it is over. */
async function withHonest<T>(world: World, work: Promise<T>): Promise<{ result: T; honest: HonestFigures }> {
  const over = new AbortController();
  const working = world.honest.work(over.signal);
  try {
    const result = await work;
    over.abort();
    return { result, honest: await working };
  } finally {
    over.abort();
  }
}

async function siteFor(world: World, attack: string): Promise<Site> {
  const { freeAccounts = FREE_ACCOUNTS } = attacks[attack] ?? {};
  const free = await Promise.all(Array.from({ length: freeAccounts }, () => world.openHostile('free')));
  const privateKey = generatePrivateKey();
  const { baseUrl, chain, database } = world.local;
  return {
    ...{ attack, seconds, address: attackerAddress(names.indexOf(attack)) },
    ...{ baseUrl, database, free, rpcUrl: chain.rpcUrl, usdc: chain.usdc },
    rich: await world.openHostile('enterprise'),
    victim: { privateKey, address: privateKeyToAddress(privateKey) },
  };
}

/** Has a process of its own prepare the attack; `result` is there when it was carried out. */
async function begin(stops: StopList, site: Site): Promise<{ result: Promise<AttackResult> }> {
  const child = fork(fileURLToPath(new URL('attacker.ts', import.meta.url)), {
    execPath: 'nice',
    execArgv: ['-n', '19', process.execPath],
  });
  stops.add(async () => void child.kill('SIGKILL'));
  const begun = Promise.withResolvers<void>();
  const done = Promise.withResolvers<AttackResult>();
  child.on('message', (told: 'begun' | AttackResult) => (told === 'begun' ? begun.resolve() : done.resolve(told)));
  child.once('exit', (code) => {
    const error = new Error(`the attacker of ${site.attack} ended with ${code}`);
    begun.reject(error);
    done.reject(error);
  });
  done.promise.catch(() => undefined);
  child.send(site);
  await begun.promise;
  return { result: done.promise };
}

async function attackOnce(stops: StopList, world: World, name: string): Promise<Row> {
  const site = await siteFor(world, name);
  const { honest: quiet } = await withHonest(world, watchNode(world.node, sleep(seconds * 500)));
  const { result } = await begin(stops, site);
  const { result: watched, honest } = await withHonest(world, watchNode(world.node, result));
  const does = attacks[name]?.does ?? '';
  return { attack: name, does, quiet, honest, bounds: boundsOf(name), result: watched.result, node: watched.figures };
}

await withStopList(async (stops) => {
  const world = await startWorld(stops);
  console.log(`${availableParallelism()} processors, load ${loadavg().map((load) => load.toFixed(1))} before.`);
  console.log(`Each attacker has an address of its own and the lowest priority; it runs on the node's processors.`);
  await withHonest(world, sleep(Math.min(seconds * 500, 5000)));
  const rows: Row[] = [];
  for (const name of names) {
    console.log(`\n${name}: ${attacks[name]?.does}`);
    const row = await attackOnce(stops, world, name);
    rows.push(row);
    for (const { text, held } of row.result.claims) console.log(`  ${held ? 'so' : 'NOT SO'}: ${text}`);
    for (const text of violationsOf(row)) console.log(`  VIOLATION: ${text}`);
    await sleep(PAUSE_MS);
  }
  console.log(`\n${tableOf(rows)}`);
  console.log(JSON.stringify({ node: process.version, seconds, rows }));
  if (rows.some((row) => violationsOf(row).length > 0)) process.exitCode = 1;
});
