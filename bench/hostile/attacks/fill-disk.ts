import type { ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { askDatabase } from '../../../packages/service/test/support/books.ts';
import type { Attack } from '../attack.ts';
import { answersWith, startHostileAgent, streams } from '../hostile-agent.ts';
import { STORAGE_MIB } from '../limits.ts';
import { type HostileRequest, paced, type Sender } from '../send.ts';
import type { Site } from '../site.ts';

const CHUNKS = 60;
const CHUNK_BYTES = 60_000;
const RESULT_BYTES = 900_000;
const PER_SECOND = 2;
const AT_ONCE = 4;
/** Maximum growth by calls that still run when the last room is given away: a stream has at most 16 MiB. */
const OF_RUNNING_MIB = AT_ONCE * 16;
/** Bytes that the account stores before the attack, so that half a minute fills the rest at the permitted rate. */
const BEFORE_MIB = STORAGE_MIB - 24;
/** The sweep comes once a minute. */
const SWEEP_MS = 90_000;
const DAYS = 30;
const MIB = 1024 * 1024;

/** Streams and results stored to the limit of the plan; then they grow old, are removed, and the room is filled again. */
export const fillDisk: Attack = {
  does: `${PER_SECOND} a second, ${AT_ONCE} at a time: streams of 3.6 MB, and as often results of 900 kB, until the plan's room is full; aged by ${DAYS} days in the database, and once more`,
  async run(site, sender, begin) {
    const { apiKey: key } = site.rich;
    const stream = streams(CHUNKS, CHUNK_BYTES);
    const result = answersWith(RESULT_BYTES);
    const answer = (response: ServerResponse) =>
      response.req.headers.accept?.includes('text/event-stream') ? stream(response) : result(response);
    const agent = await startHostileAgent(sender, { key, answer });
    const path = `/invoke/${agent.id}`;
    const awaited = { method: 'POST', path, key, headers: { 'x-sync': 'true' }, body: { task: 'x' } };
    const streamed = { ...awaited, headers: { accept: 'text/event-stream' }, body: { task: 'x', stream: true } };
    const calls = [streamed, awaited];
    await addStored(site, BEFORE_MIB);
    begin();
    const most = await fill(site, sender, calls);
    if (most >= STORAGE_MIB) await sender.send(awaited);
    const refused = sender.answers['403'] ?? 0;
    await addStored(site, -BEFORE_MIB);
    await age(site);
    const left = await untilSwept(site);
    await addStored(site, BEFORE_MIB);
    const again = await fill(site, sender, calls);
    agent.stop();
    const bound = STORAGE_MIB + OF_RUNNING_MIB;
    return [
      {
        text: `at most ${bound} MiB were stored (${most.toFixed(0)}, then ${again.toFixed(0)})`,
        held: Math.max(most, again) <= bound,
      },
      { text: `beyond ${STORAGE_MIB} MiB calls were refused (${refused})`, held: most < STORAGE_MIB || refused > 0 },
      { text: `what was old was removed (${left.toFixed(1)} MiB left)`, held: left < 1 },
      { text: 'and there was room again', held: again > BEFORE_MIB + 1 },
    ];
  },
};

async function fill(site: Site, sender: Sender, calls: readonly HostileRequest[]): Promise<number> {
  const pace = { perSecond: PER_SECOND, seconds: site.seconds / 2, atOnce: AT_ONCE };
  await Promise.all(calls.map((call) => paced(pace, () => sender.send(call))));
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

/** Pretends that more, or less, had been stored. */
const addStored = ({ database, rich }: Site, mib: number) =>
  askDatabase(database, 'insert into storage_change (account_id, bytes) values ($1, $2)', [rich.accountId, mib * MIB]);

/** Pretends that this many days had passed since. */
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
