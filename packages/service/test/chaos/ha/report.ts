import type { FaultName } from './faults.ts';
import type { Timeline } from './timeline.ts';

/** A fault, and what callers noticed of it. */
export interface Outage {
  readonly fault: FaultName;
  readonly sinceMs: number;
  /** Longest time without a success. */
  readonly gapMs: number;
  /** First attempts that began after the fault. */
  readonly made: number;
  readonly failed: readonly string[];
  /** For a failover: its steps, and the first success after the database acknowledged a commit again. */
  readonly failover?: { readonly timeline: Readonly<Timeline>; readonly servedMs: number };
}

/** Aims of one fault, in milliseconds and calls. */
const FAILOVER_MS = 10_000;
const OURS_MS = 1_000;
/** The prober has one call under way: the fault may hit it. */
const IN_FLIGHT = 1;

const STEPS = { keyGone: 'key gone', newKey: 'new key', promoted: 'promoted', acknowledged: 'commit' } as const;

const seconds = (ms: number) => `${(ms / 1000).toFixed(1)} s`;

const oursMs = ({ failover }: Outage): number | null =>
  failover?.timeline.acknowledged === undefined ? null : failover.servedMs - failover.timeline.acknowledged;

function stepsOf(outage: Outage): string[] {
  const steps = Object.entries(STEPS).flatMap(([step, name]) => {
    const atMs = outage.failover?.timeline[step as keyof Timeline];
    return atMs === undefined ? [] : [`${name} ${seconds(atMs - outage.sinceMs)}`];
  });
  const ours = oursMs(outage);
  return ours === null ? steps : [...steps, `first success ${seconds(ours)} later`];
}

/** A fault in a line: times since it began. */
export function line(outage: Outage): string {
  const { fault, gapMs, made, failed } = outage;
  const reasons = [...new Set(failed)].map((each) => `${failed.filter((other) => other === each).length} ${each}`);
  const failures = [`${failed.length} of ${made} first attempts failed`, ...reasons].join('; ');
  return [`${fault}: unavailable ${seconds(gapMs)}`, ...stepsOf(outage), failures].join(', ');
}

/** How an outage missed its aims. */
function missesOf(outage: Outage): string[] {
  const { fault, gapMs, failed } = outage;
  const missed: [boolean, string][] = outage.failover
    ? [
        [gapMs >= FAILOVER_MS, `unavailable ${seconds(gapMs)}, aim ${seconds(FAILOVER_MS)}`],
        [
          (oursMs(outage) ?? 0) > OURS_MS,
          `served ${seconds(oursMs(outage) ?? 0)} after a commit, aim ${seconds(OURS_MS)}`,
        ],
      ]
    : [
        [
          failed.length > (fault === 'rolling upgrade' ? 0 : IN_FLIGHT),
          `${failed.length} first attempts failed: ${[...new Set(failed)].join(', ')}`,
        ],
      ];
  return missed.flatMap(([isMissed, text]) => (isMissed ? [`${fault}: ${text}`] : []));
}

export const misses = (outages: readonly Outage[]): string[] => outages.flatMap(missesOf);

const spread = (values: readonly number[]): [string, string] => {
  const sorted = values.toSorted((a, b) => a - b);
  if (sorted.length === 0) return ['', ''];
  return [seconds(sorted[Math.floor(sorted.length / 2)] ?? 0), seconds(sorted.at(-1) ?? 0)];
};

/** A row for each kind of fault, and one for each step of its failovers. */
export function table(outages: readonly Outage[]): string {
  const rows = [['', 'n', 'median', 'worst', 'failed first attempts']];
  for (const fault of new Set(outages.map((outage) => outage.fault))) {
    const of = outages.filter((outage) => outage.fault === fault);
    const failed = of.reduce((sum, outage) => sum + outage.failed.length, 0);
    const made = of.reduce((sum, outage) => sum + outage.made, 0);
    rows.push([fault, String(of.length), ...spread(of.map(({ gapMs }) => gapMs)), `${failed} of ${made}`]);
    const step = (name: string, values: readonly number[]) => {
      if (values.length > 0) rows.push([`  ${name}`, String(values.length), ...spread(values), '']);
    };
    for (const [key, name] of Object.entries(STEPS)) {
      const at = ({ failover, sinceMs }: Outage) => (failover?.timeline[key as keyof Timeline] ?? Number.NaN) - sinceMs;
      step(`${name} after the fault`, of.map(at).filter(Number.isFinite));
    }
    step(
      'first success after a commit',
      of.flatMap((outage) => oursMs(outage) ?? []),
    );
  }
  return rows
    .map(([name = '', n = '', median = '', worst = '', failed = '']) =>
      `${name.padEnd(36)}${n.padStart(3)}${median.padStart(9)}${worst.padStart(9)}  ${failed}`.trimEnd(),
    )
    .join('\n');
}
