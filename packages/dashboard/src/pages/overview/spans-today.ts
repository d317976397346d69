import type { Overview } from '@agent-network/contracts/invocations/figures';

const isBusy = ({ calls, spent, earned }: Overview['buckets'][number]): boolean =>
  calls > 0 || Number(spent) > 0 || Number(earned) > 0;

/** Everything that happened in this period of days happened today: hours tell more of it than one point. */
export const spansToday = ({ days, buckets }: Pick<Overview, 'days' | 'buckets'>): boolean => {
  const last = buckets.at(-1);
  return days > 1 && last !== undefined && isBusy(last) && !buckets.slice(0, -1).some(isBusy);
};
