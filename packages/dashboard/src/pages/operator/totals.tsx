import { useApi } from '../../app/api-query.ts';
import { Stat, Stats } from '../../ui/chart/stat.tsx';
import { ErrorNote } from '../../ui/values/error-note.tsx';
import { groupDigits, Money } from '../../ui/values/money.tsx';

/** The node reads them once a minute. */
const LOOK_MS = 60_000;
const count = (value: number) => groupDigits(String(value));

/** Accounts, agents, calls, volume and fees of the whole node. */
export function Totals() {
  const { data, error, refetch } = useApi('getOperatorTotals', {}, { refetchIntervalMs: LOOK_MS });
  if (!data) return error ? <ErrorNote error={error} onRetry={() => void refetch()} /> : null;
  const { volume, fees, calls, accounts, agents } = data;
  return (
    <Stats>
      <Stat
        label="Volume, 30 days"
        value={<Money amount={volume.days30} />}
        hint={`${groupDigits(volume.total)} in total`}
      />
      <Stat label="Calls, 30 days" value={count(calls.days30)} hint={`${count(calls.total)} in total`} />
      <Stat label="Fees" value={<Money amount={fees} />} hint="not withdrawn yet" />
      <Stat label="Accounts" value={count(accounts)} />
      <Stat label="Agents" value={count(agents.total)} hint={`${count(agents.online)} online`} />
    </Stats>
  );
}
