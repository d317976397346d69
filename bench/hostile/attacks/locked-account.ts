import pg from 'pg';
import type { Attack } from '../attack.ts';
import { startHostileAgent } from '../hostile-agent.ts';
import { paced, type Sender } from '../send.ts';
import type { HostileAccount, Site } from '../site.ts';
import { deposit, pay } from './gas.ts';

const PER_SECOND = 8;
const AGENTS = 10;
/** Time for which the treasury's row is locked, and the pause until the next time. */
const LOCKED_MS = 4000;
const PAUSE_MS = 1000;

/** Keeps the own treasury busy: bulk requests with inputs of 900 kB, calls beside them, and a row that stays locked for seconds. */
export const lockedAccount: Attack = {
  does: `${PER_SECOND} a second: bulk requests with inputs of 900 kB and calls, of an account whose treasury is locked most of the time`,
  async run(site, sender, begin) {
    const key = site.rich.apiKey;
    const agents = await Promise.all(Array.from({ length: AGENTS }, () => openAgent(sender, site.rich)));
    const { treasuryId } = (await sender.send({ method: 'POST', path: '/payments/treasury', key, body: {} })).json()
      .data;
    const deposited = await pay(sender, site.rich, deposit(site.rich, '5.00'));
    const agentIds = agents.map(({ id }) => id);
    begin();
    const stop = new AbortController();
    const locking = keepLocked(site, treasuryId, stop.signal);
    const input = { text: 'x'.repeat(900_000) };
    await paced({ perSecond: PER_SECOND, seconds: site.seconds, atOnce: 16 }, async (nth) => {
      const isBulk = nth % 8 === 0;
      await sender.send({
        ...{ method: 'POST', path: isBulk ? '/invoke/bulk' : `/invoke/${agentIds[nth % AGENTS]}`, key },
        body: isBulk ? { task: 'x', input, agents: agentIds } : { task: 'x' },
      });
    });
    stop.abort();
    const locked = await locking;
    for (const agent of agents) agent.stop();
    return [
      { text: 'the deposit was taken', held: deposited.status === 200 },
      { text: `the treasury was locked (${locked} times)`, held: locked > 0 },
    ];
  },
};

const openAgent = (sender: Sender, { apiKey: key }: HostileAccount) =>
  startHostileAgent(sender, { key, perRequest: '0.001', answer: (response) => void response.end('{"result":"x"}') });

async function keepLocked({ database }: Site, treasuryId: string, signal: AbortSignal): Promise<number> {
  const client = new pg.Client(database);
  await client.connect();
  let count = 0;
  try {
    while (!signal.aborted) {
      await client.query('begin');
      await client.query('select id from ledger_account where id = $1 for update', [treasuryId]);
      count += 1;
      await pause(LOCKED_MS, signal);
      await client.query('rollback');
      await pause(PAUSE_MS, signal);
    }
  } finally {
    await client.end();
  }
  return count;
}

const pause = (ms: number, signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    const timer = setTimeout(resolve, ms);
    signal.addEventListener('abort', () => {
      clearTimeout(timer);
      resolve();
    });
  });
