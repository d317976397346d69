import { useApi } from '../../app/api-query.ts';
import { Stat, Stats } from '../../ui/chart/stat.tsx';
import { Skeleton } from '../../ui/layout/skeleton.tsx';
import { ErrorNote } from '../../ui/values/error-note.tsx';
import { Money } from '../../ui/values/money.tsx';
import { boundText } from '../payments/spendable.ts';

/** Sum of all treasuries of the account. */
export function BalanceStats() {
  const { data, error, refetch } = useApi('getBalance');
  if (error && !data) return <ErrorNote error={error} onRetry={() => void refetch()} />;
  const amount = (value: string | undefined) =>
    value === undefined ? <Skeleton className="my-1 h-5 w-24" /> : <Money amount={value} />;
  return (
    <Stats>
      <Stat label="Available" value={amount(data?.available)} hint="in all treasuries" />
      <Stat label="You can spend" value={amount(data?.spendable.perCall)} hint={data && boundText(data.spendable)} />
      <Stat label="Held" value={amount(data?.held)} hint="for running calls" />
      <Stat label="Pending" value={amount(data?.pending)} hint="unconfirmed deposits" />
    </Stats>
  );
}
