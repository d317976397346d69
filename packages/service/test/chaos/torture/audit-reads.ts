import { setTimeout as sleep } from 'node:timers/promises';
import { parseUsdc } from '@agent-network/contracts/money';
import { contradictions } from '../../support/books.ts';
import type { BankWorld } from './bank-world.ts';
import { sendWithin } from './insist.ts';
import type { Random } from './random.ts';

const PAUSE_MS = 100;
const PATIENCE_MS = 3000;

/** Reads repeatedly during the run: at every moment the books must be sound, and no balance negative. */
export function startAuditor(
  world: BankWorld,
  random: Random,
  /** For how long reserves may drift: one reading may fall between two blocks, and that a reorg took some is seen a little later. */
  toleratesDriftMs: number,
): { stop(): Promise<void> } {
  const stopping = new AbortController();
  const readBooks = async () => {
    for (const problem of await contradictions(world.databaseUrl)) world.tally.violation(`in mid-flight: ${problem}`);
    world.tally.count('readings', 'the books');
  };
  const readBalance = async () => {
    const client = random.pick(world.clients);
    const options = { key: client.key };
    const answer = await sendWithin(world.baseUrl(), 'GET', '/payments/balance', options, PATIENCE_MS);
    if (answer.status !== 200) return;
    const { available, held } = answer.body.data;
    world.tally.count('readings', 'a balance');
    if (parseUsdc(available) < 0n || parseUsdc(held) < 0n)
      world.tally.violation(`${client.name} has ${available}, held ${held}`);
  };
  let driftedMs = 0;
  let lastDriftAtMs: number | null = null;
  /** Time counts between two successive readings, as an outage hides the end of a drift. */
  const readReserves = async () => {
    const answer = await sendWithin(world.baseUrl(), 'GET', '/payments/reserves', {}, PATIENCE_MS).catch(() => null);
    const lastAtMs = lastDriftAtMs;
    lastDriftAtMs = null;
    if (answer?.status !== 200) return;
    const { status, difference } = answer.body.data;
    world.tally.count('readings', `reserves ${status}`);
    if (status !== 'drift') {
      driftedMs = 0;
      return;
    }
    lastDriftAtMs = performance.now();
    driftedMs += lastAtMs === null ? 0 : lastDriftAtMs - lastAtMs;
    if (driftedMs > toleratesDriftMs) world.tally.violation(`the reserves drift, by ${difference} now`);
  };
  const loop = async () => {
    while (!stopping.signal.aborted) {
      // Connections are dropped and processes are dead at times: what was not read is read the next time.
      await readBooks().catch(() => undefined);
      await readBalance().catch(() => undefined);
      await readReserves();
      await sleep(PAUSE_MS);
    }
  };
  const looping = loop();
  return {
    async stop() {
      stopping.abort();
      await looping;
    },
  };
}
