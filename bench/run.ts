/** Measures our service beside its peers and prints ratios of the same run. See README.md. */
import { parseArgs } from 'node:util';
import { benchAsync } from './bench-async.ts';
import type { BenchContext, Figure } from './bench-context.ts';
import { benchListing } from './bench-listing.ts';
import { benchPaid } from './bench-paid.ts';
import { benchSlowBlocks } from './bench-slow-blocks.ts';
import { benchStreams } from './bench-streams.ts';
import { benchTreasury } from './bench-treasury.ts';
import { benchUnpaid } from './bench-unpaid.ts';
import { benchWebhooks } from './bench-webhooks.ts';
import { startLoadGenerator } from './load-generator.ts';
import { monotonicUs } from './monotonic.ts';
import { type Span, summarizeProfiles } from './profile-summary.ts';
import { jsonLineOf, tableOf } from './report.ts';
import { startService } from './service-under-test.ts';
import { type StopList, withStopList } from './stop-list.ts';

const benches: Record<string, (ctx: BenchContext) => Promise<Figure[]>> = {
  a: benchUnpaid,
  b: benchPaid,
  c: benchTreasury,
  d: benchListing,
  e: benchStreams,
  f: benchAsync,
  g: benchWebhooks,
  h: benchSlowBlocks,
};

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    seconds: { type: 'string', default: '2' },
    rounds: { type: 'string', default: '3' },
    profile: { type: 'boolean', default: false },
  },
});

async function run(stops: StopList): Promise<void> {
  const chosen = positionals.length > 0 ? positionals : Object.keys(benches);
  const service = await startService(stops, { isProfiled: values.profile });
  const load = startLoadGenerator(stops);
  const ctx = { stops, service, load, seconds: Number(values.seconds), rounds: Number(values.rounds) };
  const figures: Figure[] = [];
  const spans: Span[] = [];
  for (const name of chosen) {
    const bench = benches[name];
    if (!bench) throw new Error(`no bench is named ${name}: there are ${Object.keys(benches).join(', ')}`);
    const fromUs = monotonicUs();
    figures.push(...(await bench(ctx)));
    spans.push({ name: `(${name})`, fromUs, toUs: monotonicUs() });
  }
  console.log(tableOf(figures));
  if (service.profileFolder) {
    await service.stop();
    console.log(`\n${await summarizeProfiles(service.profileFolder, spans)}`);
  }
  console.log(jsonLineOf(figures));
  if (figures.some(({ aim }) => aim?.isPromise && !aim.isReached)) process.exitCode = 1;
}

await withStopList(run);
