import { askDatabase } from '../../packages/service/test/support/books.ts';
import type { ReadsInNode } from './node-times.ts';
import { type Figures, figuresOf, isRefusal, type OpenLoopResult, type Sample } from './open-loop.ts';

const READ_MS = 50;
const RECOVERY_MS = 5000;
const LATE = `select count(*) filter (where completed_at > deadline or (status = 'failed' and error_code like '%TIMEOUT%'))::int as late,
  count(*)::int as all from invocation where created_at > $1`;

export interface Measured {
  readonly capacity: number;
  readonly seconds: number;
  readonly since: Date;
  readonly endsAtMs: number;
  readonly quiet: { readonly reads: OpenLoopResult; readonly calls: OpenLoopResult };
  readonly reads: OpenLoopResult;
  readonly calls: OpenLoopResult;
  readonly flood: OpenLoopResult;
  /** Reads as the node has measured them during the load, and the delay of its event loop. */
  readonly inNode: ReadsInNode & { readonly loopP99Ms: number };
}

type Verdict = readonly [text: string, isSo: boolean];

const columns = ['sent', '200', 'refused', 'else', 'p50 ms', 'p99 ms', 'most ms'];
const cells = (name: string, rest: readonly (string | number)[]) =>
  [name.padEnd(26), ...rest.map((cell) => String(cell).padStart(8))].join(' ');
const rowOf = (name: string, { count, ok, refused, others, p50Ms, p99Ms, maxMs }: Figures) =>
  cells(name, [count, ok, refused, others, p50Ms.toFixed(1), p99Ms.toFixed(1), maxMs.toFixed(0)]);

/** Samples by their names, in order of appearance. */
const byName = (samples: readonly Sample[]): [string, Figures][] =>
  Object.entries(Object.groupBy(samples, ({ name }) => name)).map(([name, of = []]) => [name, figuresOf(of)]);

const bySecond = (samples: readonly Sample[], endsAtMs: number): Figures[] => {
  const seconds = Object.groupBy(samples, ({ dueAtMs }) => -Math.floor((endsAtMs - dueAtMs) / 1000));
  return Object.entries(seconds)
    .sort(([a], [b]) => Number(a) - Number(b))
    .map(([, of = []]) => figuresOf(of));
};

export function tableOf({ quiet, reads, calls, flood, endsAtMs }: Measured): string {
  const during = ({ samples }: OpenLoopResult) => samples.filter(({ dueAtMs }) => dueAtMs < endsAtMs);
  return [
    cells('', columns),
    rowOf('reads before', figuresOf(quiet.reads.samples)),
    rowOf('other account before', figuresOf(quiet.calls.samples)),
    rowOf('reads', figuresOf(during(reads))),
    ...byName(during(reads)).map(([name, figures]) => rowOf(`  ${name}`, figures)),
    ...bySecond(during(reads), endsAtMs).map((figures, nth) => rowOf(`  all, second ${nth + 1}`, figures)),
    ...[...byName(during(calls)), ...byName(flood.samples)].map(([name, figures]) => rowOf(name, figures)),
  ].join('\n');
}

/** The promises, each with whether it was kept. */
export async function verdictsOf(database: string, measured: Measured): Promise<Verdict[]> {
  const { quiet, reads, calls, flood, endsAtMs, capacity, seconds, since, inNode } = measured;
  const during = ({ samples }: OpenLoopResult) => figuresOf(samples.filter(({ dueAtMs }) => dueAtMs < endsAtMs));
  const [read, other, flow] = [during(reads), during(calls), figuresOf(flood.samples)];
  const before = figuresOf(quiet.reads.samples);
  const served = new Map(byName(flood.samples).map(([name, { ok, count }]) => [name, ok / count]));
  const [high, normal, low] = ['high', 'normal', 'low'].map((name) => served.get(`flood, ${name}`) ?? 0) as [
    number,
    number,
    number,
  ];
  const percent = (share: number) => `${(share * 100).toFixed(1)} %`;
  const waits = flood.samples.filter(isRefusal).map(({ retryAfterS }) => retryAfterS ?? 0);
  const byLimit = flood.samples.filter(({ status }) => status === 429).length;
  const [ended] = await askDatabase<{ late: number; all: number }>(database, LATE, [since]);
  const recoveredMs = recoveredAfterMs(measured);
  return [
    [
      `reads p99 ${read.p99Ms.toFixed(1)} ms at the client, ${before.p99Ms.toFixed(1)} before the load; aim under ${READ_MS}; none refused`,
      read.p99Ms < READ_MS && read.ok === read.count,
    ],
    [
      `of that in the node: 99 of 100 of ${inNode.count} reads within ${inNode.p99Ms} ms from request to answer, database included; event loop delayed by p99 ${inNode.loopP99Ms.toFixed(1)} ms; aim ${READ_MS}`,
      inNode.p99Ms <= READ_MS && inNode.loopP99Ms < READ_MS,
    ],
    [`the other account: ${other.ok} of ${other.count} calls served`, other.ok === other.count],
    [
      `served: ${percent(high)} of high, ${percent(normal)} of normal, ${percent(low)} of low`,
      high >= normal && normal >= low,
    ],
    [
      `refused: ${percent(flow.refused / flow.count)}, ${byLimit} of them with 429 as their account had so many waiting, the rest with 503; a Retry-After of ${Math.min(...new Set(waits))} to ${Math.max(...new Set(waits))} s; ${flow.others} otherwise`,
      flow.others === 0 && !waits.includes(0),
    ],
    [`accepted: ${ended?.all}; of them past their deadline: ${ended?.late}`, ended?.late === 0],
    [`calls served: ${percent(flow.ok / seconds / capacity)} of the capacity`, flow.ok > 0],
    [
      `${(recoveredMs / 1000).toFixed(1)} s after the load, all is as before; aim ${RECOVERY_MS / 1000}`,
      recoveredMs < RECOVERY_MS,
    ],
  ];
}

/** Time after the load until the last slow or refused answer, by what is usual without a load. */
function recoveredAfterMs({ quiet, reads, calls, endsAtMs }: Measured): number {
  const usual = (result: OpenLoopResult) => Math.max(READ_MS, 2 * figuresOf(result.samples).p99Ms);
  const last = ({ samples }: OpenLoopResult, maxMs: number) =>
    samples
      .filter(({ dueAtMs, status, tookMs }) => dueAtMs >= endsAtMs && (status !== 200 || tookMs > maxMs))
      .map(({ dueAtMs, tookMs }) => dueAtMs + tookMs - endsAtMs);
  return Math.max(0, ...last(reads, usual(quiet.reads)), ...last(calls, usual(quiet.calls)));
}
