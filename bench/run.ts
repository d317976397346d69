/** Measures our service beside its peers and prints ratios of the same run. See README.md. */
import { parseArgs } from 'node:util';
import { benchAsync } from './bench-async.ts';
import { benchChannels } from './bench-channels.ts';
import type { BenchContext, Figure } from './bench-context.ts';
import { benchGateways } from './bench-gateways.ts';
import { benchListing } from './bench-listing.ts';
import { benchPaid } from './bench-paid.ts';
import { benchRegistry } from './bench-registry.ts';
import { benchSlowBlocks } from './bench-slow-blocks.ts';
import { benchStreams } from './bench-streams.ts';
import { benchTreasury } from './bench-treasury.ts';
import { benchUnpaid } from './bench-unpaid.ts';
import { benchWebhooks } from './bench-webhooks.ts';
import { startLoadGenerator } from './load-generator.ts';
import { monotonicUs } from './monotonic.ts';
import { type Span, summarizeProfiles } from './profile-summary.ts';
import { duration, tell } from './progress.ts';
import { jsonLineOf, tableOf } from './report.ts';
import { startService } from './service-under-test.ts';
import { type StopList, withStopList } from './stop-list.ts';

interface Bench {
  readonly what: string;
  readonly run: (ctx: BenchContext) => Promise<Figure[]>;
  /** About how long it takes: measurements in each round, and seconds beside them. */
  readonly measurements: number;
  readonly besides: (agents: readonly number[]) => number;
}

const seeding = (agents: readonly number[]) => agents.reduce((sum, each) => sum + 30 + each * 0.0015, 0);
const benches: Record<string, Bench> = {
  a: { what: 'a call without a payment', run: benchUnpaid, measurements: 3, besides: () => 10 },
  b: { what: 'a whole paid call', run: benchPaid, measurements: 6, besides: () => 30 },
  c: { what: 'a call paid from a treasury', run: benchTreasury, measurements: 4, besides: () => 5 },
  d: { what: 'the agents of a capability', run: benchListing, measurements: 1, besides: () => 5 },
  e: { what: '2,000 open streams', run: benchStreams, measurements: 0, besides: () => 90 },
  f: { what: 'an asynchronous call', run: benchAsync, measurements: 6, besides: () => 10 },
  g: { what: 'deliveries of webhooks', run: benchWebhooks, measurements: 0, besides: () => 60 },
  h: { what: 'a paid call, slow blocks', run: benchSlowBlocks, measurements: 6, besides: () => 40 },
  i: { what: 'questions to a registry of many agents', run: benchRegistry, measurements: 0, besides: seeding },
  j: { what: 'a call paid by a voucher', run: benchChannels, measurements: 9, besides: () => 120 },
  k: { what: 'a treasury call through each gateway', run: benchGateways, measurements: 5, besides: () => 35 },
};

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    seconds: { type: 'string', default: '2' },
    rounds: { type: 'string', default: '3' },
    agents: { type: 'string', default: '10000,100000,1000000' },
    profile: { type: 'boolean', default: false },
  },
});

async function run(stops: StopList): Promise<void> {
  const chosen = positionals.length > 0 ? positionals : Object.keys(benches);
  const [seconds, rounds, agents] = [
    Number(values.seconds),
    Number(values.rounds),
    values.agents.split(',').map(Number),
  ];
  const expected = (name: string) => {
    const bench = benchOf(name);
    // Each measurement is warmed up for about as long as it takes.
    return bench.measurements * rounds * seconds * 2 + bench.besides(agents);
  };
  const left = (from: number) => duration(chosen.slice(from).reduce((sum, name) => sum + expected(name), 0));
  tell(`starting a node; all of (${chosen.join('), (')}) takes about ${left(0)}, longer on a busy machine`);
  const service = await startService(stops, { isProfiled: values.profile });
  const load = startLoadGenerator(stops);
  const ctx = { stops, service, load, seconds, rounds, agents };
  const figures: Figure[] = [];
  const spans: Span[] = [];
  for (const [index, name] of chosen.entries()) {
    const bench = benchOf(name);
    tell(`(${name}) ${bench.what}: about ${duration(expected(name))}; all that is left: about ${left(index)}`);
    const fromUs = monotonicUs();
    figures.push(...(await bench.run(ctx)));
    spans.push({ name: `(${name})`, fromUs, toUs: monotonicUs() });
    tell(`(${name}) took ${duration((monotonicUs() - fromUs) / 1e6)}`);
  }
  console.log(tableOf(figures));
  if (service.profileFolder) {
    await service.stop();
    console.log(`\n${await summarizeProfiles(service.profileFolder, spans)}`);
  }
  console.log(jsonLineOf(figures));
  if (figures.some(({ aim }) => aim?.isPromise && !aim.isReached)) process.exitCode = 1;
}

function benchOf(name: string): Bench {
  const bench = benches[name];
  if (!bench) throw new Error(`no bench is named ${name}: there are ${Object.keys(benches).join(', ')}`);
  return bench;
}

await withStopList(run);
