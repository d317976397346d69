/** Offers a node ten times its capacity, and reports the effects on reads, priorities, deadlines and other accounts. See ../README.md. */
import { loadavg } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { startLoadGenerator } from '../load-generator.ts';
import { type StopList, withStopList } from '../stop-list.ts';
import { createRequests } from './load.ts';
import { startLoadProcess } from './load-process.ts';
import { readNodeTimes, readsBetween } from './node-times.ts';
import type { Stream } from './open-loop.ts';
import { startSite } from './site.ts';
import { type Measured, tableOf, verdictsOf } from './verdict.ts';

const READS_PER_SECOND = 100;
/** Calls a second of the account that does not flood. */
const POLITE_PER_SECOND = 5;
const AFTER_SECONDS = 8;
const QUIET_SECONDS = 5;
const CAPACITY_SECONDS = 5;
/** Connections of the flood: each waits for its answer. They are opened before: a storm of new connections is another load. */
const CONNECTIONS = 3000;
const CONNECT_MS = 6000;

const { values } = parseArgs({
  options: {
    seconds: { type: 'string', default: '20' },
    times: { type: 'string', default: '10' },
    callers: { type: 'string', default: '64' },
  },
});
const [seconds, times, callers] = [Number(values.seconds), Number(values.times), Number(values.callers)];
if (!(seconds >= 2 && seconds <= 300 && times >= 1 && times <= 50 && callers >= 1 && callers <= 1024)) {
  console.error('--seconds must be 2 to 300, --times 1 to 50, --callers 1 to 1024.');
  process.exit(2);
}

async function measure(stops: StopList): Promise<{ database: string; measured: Measured }> {
  const site = await startSite(stops);
  const [flooding, polite] = [await site.openPaying(100_000), await site.openPaying(1000)];
  const requests = createRequests(site);
  const generator = startLoadGenerator(stops);
  const questions = [{ request: requests.invoke(flooding), status: 200, includes: '"completed"' }];
  const closedLoop = () => generator.run({ kind: 'plain', callers, seconds: CAPACITY_SECONDS, questions });
  await closedLoop();
  const capacity = (await closedLoop()).perSecond;
  const pinned = site.isPinned ? 'the node on one, database, chain, agent and load on the other' : 'nothing pinned';
  console.log(`load of the machine before: ${loadavg()[0]?.toFixed(1)}, ${pinned}.`);
  console.log(
    `capacity: ${capacity.toFixed(0)} synchronous calls/s paid from a treasury, ${callers} callers in a closed loop.`,
  );

  const reads = requests.reads(polite, await requests.invokeOnce(polite));
  const [reader, caller, flooder] = [
    startLoadProcess(stops, { isMeasuring: true }),
    startLoadProcess(stops),
    startLoadProcess(stops),
  ];
  let startsAtMs = Date.now() + 1000;
  const job = (streams: readonly Stream[], perSecond: number, forSeconds: number, connections = 64) => ({
    ...{ url: requests.baseUrl, streams, perSecond, seconds: forSeconds, connections, startsAtMs },
  });
  const beside = (forSeconds: number) => [
    reader.run(job(reads, READS_PER_SECOND, forSeconds)),
    caller.run(job(requests.polite(polite), POLITE_PER_SECOND, forSeconds)),
  ];
  const [quietReads, quietCalls] = await Promise.all(beside(QUIET_SECONDS));
  startsAtMs = Date.now() + CONNECT_MS;
  const since = new Date(startsAtMs);
  const endsAtMs = startsAtMs + seconds * 1000;
  const untilMs = (atMs: number) => sleep(atMs - Date.now()).then(() => readNodeTimes(requests.baseUrl));
  const [before, after, flood, readsThen, callsThen] = await Promise.all([
    untilMs(startsAtMs - 100),
    untilMs(endsAtMs),
    flooder.run(job(requests.flood(flooding), capacity * times, seconds, CONNECTIONS)),
    ...beside(seconds + AFTER_SECONDS),
  ]);
  if (!quietReads || !quietCalls || !readsThen || !callsThen) throw new Error('a load brought no result');
  const quiet = { reads: quietReads, calls: quietCalls };
  const inNode = { ...readsBetween(requests.readRoutes, before, after), loopP99Ms: after.loopP99Ms };
  const measured = { capacity, seconds, since, endsAtMs, quiet, reads: readsThen, calls: callsThen, flood, inNode };
  return { database: site.service.local.database, measured };
}

async function run(stops: StopList): Promise<void> {
  const { database, measured } = await measure(stops);
  const { capacity, flood } = measured;
  console.log(
    `offered: ${(capacity * times).toFixed(0)} calls/s for ${seconds} s; ${flood.unsent} of them not sent, as every connection waited, ${flood.broken} broken off. The generator used ${(flood.cpuShare * 100).toFixed(0)} % of a processor.\n`,
  );
  console.log(`${tableOf(measured)}\n`);
  const verdicts = await verdictsOf(database, measured);
  for (const [text, isSo] of verdicts) console.log(`${isSo ? 'so' : 'NOT SO'}: ${text}`);
  console.log(JSON.stringify({ node: process.version, capacity, times, seconds, verdicts }));
  if (verdicts.some(([, isSo]) => !isSo)) process.exitCode = 1;
}

await withStopList(run);
