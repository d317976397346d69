import { setTimeout as sleep } from 'node:timers/promises';
import { askDatabase } from '../../../packages/service/test/support/books.ts';
import type { Attack } from '../attack.ts';
import { type HostileAgent, startHostileAgent, streams } from '../hostile-agent.ts';
import { STORAGE_MIB } from '../limits.ts';
import { paced, type Sender } from '../send.ts';
import type { Site } from '../site.ts';

const CHUNKS = 60;
const CHUNK_BYTES = 60_000;
const PER_SECOND = 2;
const AT_ONCE = 4;
/** What calls may bring that run when the last room is given away: a stream has at most 16 MiB. */
const OF_RUNNING_MIB = AT_ONCE * 16;
/** The sweep comes once a minute. */
const SWEEP_MS = 90_000;
const DAYS = 30;
const MIB = 1024 * 1024;

/** Streams stored to the limit of the plan; then they grow old, are removed, and the room is filled again. */
export const fillDisk: Attack = {
  does: `${PER_SECOND} a second, ${AT_ONCE} at a time: streams of 3.6 MB until the plan's room is full; aged by ${DAYS} days in the database, and once more`,
  async run(site, sender, begin) {
    const agent = await startHostileAgent(sender, { key: site.rich.apiKey, answer: streams(CHUNKS, CHUNK_BYTES) });
    begin();
    const most = await fill(site, sender, agent);
    const refused = sender.answers['403'] ?? 0;
    await age(site);
    const left = await untilSwept(site);
    const again = await fill(site, sender, agent);
    agent.stop();
    const bound = STORAGE_MIB + OF_RUNNING_MIB;
    return [
      {
        text: `at most ${bound} MiB were stored (${most.toFixed(0)}, then ${again.toFixed(0)})`,
        held: Math.max(most, again) <= bound,
      },
      { text: `beyond ${STORAGE_MIB} MiB calls were refused (${refused})`, held: most < STORAGE_MIB || refused > 0 },
      { text: `what was old was removed (${left.toFixed(1)} MiB left)`, held: left < 1 },
      { text: 'and there was room again', held: again > 1 },
    ];
  },
};

async function fill(site: Site, sender: Sender, agent: HostileAgent): Promise<number> {
  const headers = { accept: 'text/event-stream' };
  await paced({ perSecond: PER_SECOND, seconds: site.seconds / 2, atOnce: AT_ONCE }, () =>
    sender.send({
      method: 'POST',
      path: `/invoke/${agent.id}`,
      key: site.rich.apiKey,
      headers,
      body: { task: 'x', stream: true },
    }),
  );
  return storedMib(site);
}

async function storedMib({ database, rich }: Site): Promise<number> {
  const [row] = await askDatabase<{ bytes: string }>(
    database,
    `select coalesce(sum(bytes), 0) as bytes from (
       select bytes from account_storage where account_id = $1 union all select bytes from storage_change where account_id = $1) s`,
    [rich.accountId],
  );
  return Number(row?.bytes) / MIB;
}

/** As if so many days had passed since. */
async function age({ database, rich }: Site): Promise<void> {
  const days = `${DAYS} days`;
  const own = 'select id from invocation where account_id = $1';
  const params = [rich.accountId, days];
  await askDatabase(
    database,
    `update invocation_chunk set created_at = created_at - $2::interval where invocation_id in (${own})`,
    params,
  );
  await askDatabase(
    database,
    'update invocation set completed_at = completed_at - $2::interval where account_id = $1 and completed_at is not null',
    params,
  );
}

async function untilSwept(site: Site): Promise<number> {
  const untilMs = performance.now() + SWEEP_MS;
  for (;;) {
    const left = await storedMib(site);
    if (left < 1 || performance.now() > untilMs) return left;
    await sleep(1000);
  }
}
