import type { Overview } from '@agent-network/contracts/invocations/figures';
import { durationText } from '../../ui/values/duration.tsx';
import { groupDigits } from '../../ui/values/money.tsx';

type Buckets = Overview['buckets'];

/** Charts draw numbers; the sums stand beside them as exact amounts. */
export const usdcText = (amount: number): string => {
  const [whole = '0', fraction = ''] = amount.toFixed(6).replace(/0+$/, '').split('.');
  return groupDigits(`${whole}.${fraction.padEnd(2, '0')}`);
};
/** There are no halves of calls: an axis that has steps between leaves them out. */
export const callsText = (calls: number): string => (Number.isInteger(calls) ? groupDigits(String(calls)) : '');
export const msText = (ms: number): string => (ms < 10 ? `${Number(ms.toFixed(1))} ms` : durationText(ms));

export const timesOf = (buckets: Buckets): readonly number[] => buckets.map(({ from }) => Date.parse(from));

export const moneySeries = (buckets: Buckets) =>
  [
    { label: 'Spent', tone: 'accent', values: buckets.map(({ spent }) => Number(spent)) },
    { label: 'Earned', tone: 'good', values: buckets.map(({ earned }) => Number(earned)) },
  ] as const;

/** Failed ones are drawn over all of them. */
export const callSeries = (buckets: Buckets) =>
  [
    { label: 'Calls', tone: 'accent', values: buckets.map(({ calls }) => calls) },
    { label: 'Failed', tone: 'bad', values: buckets.map(({ failed }) => failed) },
  ] as const;

export const durationSeries = (buckets: Buckets) =>
  [
    { label: 'p50', tone: 'accent', values: buckets.map(({ p50Ms }) => p50Ms) },
    { label: 'p95', tone: 'muted', values: buckets.map(({ p95Ms }) => p95Ms) },
  ] as const;
