import type { OwnAgent } from '@agent-network/contracts/invocations/figures';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { useApi } from '../../app/api-query.ts';
import { useShownTheme } from '../../app/shell/theme.ts';
import { BarChart, countText } from '../../ui/chart/chart.tsx';
import { Button } from '../../ui/controls/button.tsx';
import { Copyable } from '../../ui/controls/copyable.tsx';
import { Card } from '../../ui/layout/card.tsx';
import { FactRow } from '../../ui/layout/fact-row.tsx';
import { Waiting } from '../../ui/layout/waiting.tsx';
import { CodeBlock } from '../../ui/values/code-block.tsx';
import { linkClass } from '../../ui/values/link.tsx';
import { groupDigits, Money } from '../../ui/values/money.tsx';
import { usdcText } from '../overview/overview.ts';
import { CollectEarnings } from '../payments/collect-earnings.tsx';
import { useTreasuries } from '../payments/use-treasuries.ts';
import { WithdrawDialog } from '../payments/withdraw/withdraw-dialog.tsx';
import { statementCommand } from './agent-samples.ts';

/** The agent's earnings, less fees, and the treasury that holds them. */
export const EarningsTab = ({ agent: { id, balance, treasuryId } }: { agent: OwnAgent }) => (
  <div className="space-y-5">
    <EarningsCharts agentId={id} />
    <div className="grid items-start gap-5 lg:grid-cols-2">
      <Card
        title="Treasury"
        actions={
          treasuryId && (
            <Link to="/payments/treasuries/$treasuryId" params={{ treasuryId }} className={linkClass}>
              Statement
            </Link>
          )
        }
      >
        <dl>
          <FactRow label="Available">
            <Money amount={balance.available} />
          </FactRow>
          <Withdrawn agentId={id} />
          <FactRow label="Held">
            <Money amount={balance.held} />
          </FactRow>
          {treasuryId && (
            <FactRow label="Treasury">
              <Copyable label="treasury id" text={treasuryId} />
            </FactRow>
          )}
        </dl>
        {treasuryId && Number(balance.available) > 0 && <Collecting agentId={id} treasuryId={treasuryId} />}
        {treasuryId && (
          <div className="mt-4">
            <CodeBlock
              label="Statement"
              samples={[{ label: 'curl', code: statementCommand(location.origin, treasuryId) }]}
            />
          </div>
        )}
      </Card>
    </div>
  </div>
);

function Withdrawn({ agentId }: { agentId: string }) {
  const { data } = useApi('getAgentEarnings', { params: { id: agentId }, query: { days: '30' } });
  return (
    <FactRow label="Withdrawn so far">
      <Money amount={data?.withdrawn} />
    </FactRow>
  );
}

/** The two ways out of an agent's treasury: to the account's, which pays for calls, or to a wallet. */
function Collecting({ agentId, treasuryId }: { agentId: string; treasuryId: string }) {
  const { treasuries } = useTreasuries();
  const [isWithdrawing, setWithdrawing] = useState(false);
  return (
    <div className="mt-4 flex flex-wrap gap-2">
      <CollectEarnings agentId={agentId} variant="primary">
        Collect
      </CollectEarnings>
      <Button icon="arrowUp" disabled={!treasuries} onClick={() => setWithdrawing(true)}>
        Withdraw
      </Button>
      {isWithdrawing && treasuries && (
        <WithdrawDialog treasuries={treasuries} treasuryId={treasuryId} onClose={() => setWithdrawing(false)} />
      )}
    </div>
  );
}

/** An agent's earnings and calls by day (UTC), 30 days. Bars are drawn from rounded numbers; the sums are exact. */
function EarningsCharts({ agentId }: { agentId: string }) {
  const theme = useShownTheme();
  const call = { params: { id: agentId }, query: { days: '30' } } as const;
  const { data, error, refetch } = useApi('getAgentEarnings', call);
  if (!data) return <Waiting error={error} onRetry={() => void refetch()} />;
  const { buckets } = data;
  const common = { theme, heightPx: 180, timesMs: buckets.map(({ from }) => Date.parse(from)) };
  return (
    <div className="grid gap-5 lg:grid-cols-2">
      <Card
        title="Earned by day, less fees"
        actions={
          <span className="text-[13px] text-muted">
            30 days: <Money amount={data.earned} />
          </span>
        }
      >
        <BarChart
          {...common}
          title="Earned by day"
          format={usdcText}
          series={[{ label: 'Earned', tone: 'good', values: buckets.map(({ earned }) => Number(earned)) }]}
        />
      </Card>
      <Card
        title="Calls by day"
        actions={<span className="text-[13px] text-muted">30 days: {groupDigits(data.calls)}</span>}
      >
        <BarChart
          {...common}
          title="Calls by day"
          format={countText}
          series={[
            {
              label: 'Completed or cancelled',
              tone: 'accent',
              values: buckets.map(({ calls, failed }) => calls - failed),
            },
            { label: 'Failed', tone: 'bad', values: buckets.map(({ failed }) => failed) },
          ]}
        />
      </Card>
    </div>
  );
}
