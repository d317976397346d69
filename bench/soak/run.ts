/** Works at a part of a node's capacity for long, and tells what grows. See ../README.md. */
import { loadavg } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { startSite } from '../overload/site.ts';
import { tell } from '../progress.ts';
import { type StopList, withStopList } from '../stop-list.ts';
import { fitOf, growthPerCall } from './fit.ts';
import { createKeptMemory, INSPECTED, type KeptMemory } from './kept-memory.ts';
import { createMix, type Kind, type Mix, newTally, orderOf, runMix, sumOf, type Tally } from './mix.ts';
import { type Sample, sampleOf } from './samples.ts';

const EVERY_MS = 10_000;
/** After it, what is still there is kept: under load, much of the memory is only not yet collected. */
const REST_MS = 60_000;
/** Callers of the closed loop that finds the capacity. */
const CALLERS = 32;
const CAPACITY_S = 8;
const MIN_RSS_MIB = 24;
/** In use after a full collection: caches fill up to their bounds, and code that runs often is compiled. */
const MAX_KEPT_MIB = 32;
/** Sockets of calls in flight come and go. */
const MIN_HANDLES = 32;
const MIN_CONNECTIONS = 2;
const MAX_FAILED_SHARE = 0.001;

const { values } = parseArgs({
  options: { minutes: { type: 'string', default: '60' }, load: { type: 'string', default: '60' } },
});
const [minutes, load] = [Number(values.minutes), Number(values.load)];
if (!(minutes >= 1 && minutes <= 1440 && load >= 1 && load <= 100)) {
  console.error('--minutes must be 1 to 1440, --load 1 to 100 (percent of the capacity).');
  process.exit(2);
}

/** Calls of the mix a second, in a closed loop. */
async function capacityOf(mix: Mix): Promise<number> {
  const tally = newTally();
  const over = AbortSignal.timeout(CAPACITY_S * 1000);
  const startMs = performance.now();
  const order = orderOf();
  let nth = 0;
  const callOn = async () => {
    while (!over.aborted) {
      const kind = order[nth++ % order.length] as Kind;
      await mix.acts[kind]().then(
        () => {
          tally.done[kind] += 1;
        },
        // An overloaded node refuses: that is no capacity.
        () => undefined,
      );
    }
  };
  await Promise.all(Array.from({ length: CALLERS }, callOn));
  return sumOf(tally.done) / ((performance.now() - startMs) / 1000);
}

async function work(mix: Mix, perSecond: number, sample: (calls: number) => Promise<Sample>) {
  const tally = newTally();
  const over = new AbortController();
  const working = runMix(mix, { perSecond, until: over.signal, tally });
  const samples: Sample[] = [];
  const endsMs = performance.now() + minutes * 60_000;
  while (performance.now() < endsMs) {
    samples.push(await sample(sumOf(tally.done)));
    if (samples.length % 6 === 1) tell(`${(samples.length / 6).toFixed(0)} min: ${line(samples.at(-1))}`);
    await sleep(Math.min(EVERY_MS, Math.max(0, endsMs - performance.now())));
  }
  over.abort();
  await working;
  samples.push(await sample(sumOf(tally.done)));
  return { tally, samples };
}

const line = (sample?: Sample) =>
  sample
    ? `${sample.calls} calls, RSS ${sample.rssMib.toFixed(0)} MiB, ${sample.handles} handles, ${sample.connections} connections`
    : '';

interface Kept {
  readonly before: KeptMemory;
  readonly after: KeptMemory;
  /** A minute after the load. */
  readonly handlesAfter: number;
}

/** Memory in use after a full collection tells a leak from garbage that is not collected yet. */
function isKeptFlat({ before, after }: Kept, calls: number): boolean {
  const grownMib = after.usedMib - before.usedMib;
  const isFlat = grownMib <= MAX_KEPT_MIB;
  console.log(
    `${isFlat ? 'flat' : 'GROWS'}: in use after a full collection, MiB: ${before.usedMib.toFixed(0)} before the load, ${after.usedMib.toFixed(0)} after it (${((grownMib * 1024 * 1024) / calls).toFixed(0)} bytes a call); RSS then ${before.rssMib.toFixed(0)} and ${after.rssMib.toFixed(0)}`,
  );
  return isFlat;
}

/** Prints what was found; true: all is flat or explained. */
function judge(
  { tally, samples }: { tally: Tally; samples: readonly Sample[] },
  delivered: number,
  kept: Kept,
): boolean {
  const series = (name: string, read: (sample: Sample) => number) => ({ name, values: samples.map(read) });
  const fits = [
    fitOf(
      series('RSS, MiB', ({ rssMib }) => rssMib),
      MIN_RSS_MIB,
    ),
    fitOf(
      series('handles', ({ handles }) => handles),
      MIN_HANDLES,
    ),
    fitOf(
      series('database connections', ({ connections }) => connections),
      MIN_CONNECTIONS,
    ),
  ];
  const isKept = isKeptFlat(kept, sumOf(tally.done));
  // Sockets of calls in flight are closed a minute later; what is not is a leak.
  const areClosed = kept.handlesAfter <= (samples[0]?.handles ?? 0) + MIN_HANDLES;
  const isBorne = ({ name, isFlat }: (typeof fits)[number]) =>
    isFlat || (name.startsWith('RSS') && isKept) || (name === 'handles' && areClosed);
  for (const fit of fits) {
    const { name, middle, growth, isFlat } = fit;
    const verdict = isFlat ? 'flat' : isBorne(fit) ? 'given back after the load' : 'GROWS';
    console.log(
      `${verdict}: ${name}: median ${middle.toFixed(0)}, ${growth >= 0 ? '+' : ''}${growth.toFixed(1)} over the last two thirds`,
    );
  }
  const calls = samples.map((sample) => sample.calls);
  const tables = Object.keys(samples.at(-1)?.tables ?? {})
    .map((name) =>
      growthPerCall(
        series(name, (sample) => sample.tables[name] ?? 0),
        calls,
      ),
    )
    .sort((a, b) => b.bytesPerCall - a.bytesPerCall);
  for (const { name, bytesPerCall, isExplained } of tables)
    if (bytesPerCall >= 1 || !isExplained)
      console.log(
        `${isExplained ? 'by the call' : 'FASTER THAN THE CALLS'}: table ${name}: ${bytesPerCall.toFixed(0)} bytes a call`,
      );
  const [done, failed] = [sumOf(tally.done), sumOf(tally.failed)];
  const isServed = failed <= done * MAX_FAILED_SHARE;
  console.log(
    `${isServed ? 'so' : 'NOT SO'}: ${done} calls done (${JSON.stringify(tally.done)}), ${failed} failed, ${tally.skipped} not begun in time, ${delivered} deliveries of webhooks`,
  );
  for (const error of tally.errors) console.log(`  ${error}`);
  console.log(
    JSON.stringify({
      node: process.version,
      minutes,
      load,
      fits,
      kept,
      tables: tables.filter(({ bytesPerCall }) => bytesPerCall >= 1),
      tally: { ...tally, errors: [...tally.errors] },
      samples: samples.map(({ tables: _, ...each }) => each),
    }),
  );
  return isServed && isKept && fits.every(isBorne) && tables.every(({ isExplained }) => isExplained);
}

async function run(stops: StopList): Promise<void> {
  const site = await startSite(stops, INSPECTED);
  const account = await site.openPaying(50_000 + Math.ceil(minutes) * 5000);
  const mix = await createMix(stops, site, account);
  for (const act of Object.values(mix.acts)) await act();
  await capacityOf(mix);
  const capacity = await capacityOf(mix);
  const perSecond = (capacity * load) / 100;
  console.log(
    `Load of the machine ${loadavg()[0]?.toFixed(1)}; ${site.isPinned ? 'the node has one of its own' : 'not pinned'}. Capacity: ${capacity.toFixed(0)} calls/s of all kinds, ${CALLERS} callers. ${minutes} min at ${load} %: ${perSecond.toFixed(0)} calls/s.`,
  );
  const { service } = site;
  const readKept = await createKeptMemory(stops, service);
  const before = await readKept();
  const found = await work(mix, perSecond, (calls) => sampleOf(service.pid, service.local.database, calls));
  await sleep(REST_MS);
  const rested = await sampleOf(service.pid, service.local.database, sumOf(found.tally.done));
  console.log(`${REST_MS / 1000} s after the load: ${line(rested)}`);
  const kept = { before, after: await readKept(), handlesAfter: rested.handles };
  process.exitCode = judge(found, mix.delivered(), kept) ? 0 : 1;
}

await withStopList(run);
