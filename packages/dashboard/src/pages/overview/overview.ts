import type { Overview } from '@agent-network/contracts/invocations/figures';
import { durationText } from '../../ui/values/duration.tsx';
import { groupDigits } from '../../ui/values/money.tsx';

/** Days in UTC, with today, as GET /account/overview has them. */
export const periods = [
  { id: '1', label: 'Today' },
  { id: '7', label: '7 days' },
  { id: '30', label: '30 days' },
] as const;

export type PeriodId = (typeof periods)[number]['id'];

/** Parses the period in the URL; default: 7 days. */
export const periodOf = (text: string | undefined): PeriodId => periods.find(({ id }) => id === text)?.id ?? '7';

type Buckets = Overview['buckets'];

/** Formats a number of a chart; the exact sums are shown as amounts beside it. */
export const usdcText = (amount: number): string => {
  const [whole = '0', fraction = ''] = amount.toFixed(6).replace(/0+$/, '').split('.');
  return groupDigits(`${whole}.${fraction.padEnd(2, '0')}`);
};
export const msText = (ms: number): string => (ms < 10 ? `${Number(ms.toFixed(1))} ms` : durationText(ms));

export const timesOf = (buckets: Buckets): readonly number[] => buckets.map(({ from }) => Date.parse(from));

export const moneySeries = (buckets: Buckets) =>
  [
    { label: 'Spent', tone: 'accent', values: buckets.map(({ spent }) => Number(spent)) },
    { label: 'Earned', tone: 'good', values: buckets.map(({ earned }) => Number(earned)) },
  ] as const;

export const callSeries = (buckets: Buckets) =>
  [
    { label: 'Completed or cancelled', tone: 'accent', values: buckets.map(({ calls, failed }) => calls - failed) },
    { label: 'Failed', tone: 'bad', values: buckets.map(({ failed }) => failed) },
  ] as const;

export const durationSeries = (buckets: Buckets) =>
  [
    { label: 'Typical', tone: 'accent', values: buckets.map(({ p50Ms }) => p50Ms) },
    { label: '95% within', tone: 'muted', values: buckets.map(({ p95Ms }) => p95Ms) },
  ] as const;

type Failure = Overview['recentFailures'][number];

/** The latest of failures that are alike, and how many there are. */
export interface FailureGroup extends Failure {
  readonly count: number;
}

/** Failures of one agent with the same code and message as one, at the place of the latest. They come newest first. */
export function groupFailures(failures: readonly Failure[]): readonly FailureGroup[] {
  const groups = new Map<string, FailureGroup>();
  for (const failure of failures) {
    const key = JSON.stringify([failure.agentId, failure.code, failure.message]);
    const known = groups.get(key);
    groups.set(key, known ? { ...known, count: known.count + 1 } : { ...failure, count: 1 });
  }
  return [...groups.values()];
}

const isBusy = ({ calls, spent, earned }: Overview['buckets'][number]): boolean =>
  calls > 0 || Number(spent) > 0 || Number(earned) > 0;

/** True if everything in this period of days happened today, so that hours show more than one point. */
export const spansToday = ({ days, buckets }: Pick<Overview, 'days' | 'buckets'>): boolean => {
  const last = buckets.at(-1);
  return days > 1 && last !== undefined && isBusy(last) && !buckets.slice(0, -1).some(isBusy);
};

/** Period and steps of a chart of these days, as its title names them. */
export const chartPeriod = (days: number): string => (days === 1 ? 'today, by hour' : `${days} days, by day`);
