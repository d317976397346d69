import type { OwnAgent } from '@agent-network/contracts/invocations/figures';
import { Link } from '@tanstack/react-router';
import { Copyable } from '../../ui/controls/copyable.tsx';
import { Card } from '../../ui/layout/card.tsx';
import { FactRow } from '../../ui/layout/fact-row.tsx';
import { CodeBlock } from '../../ui/values/code-block.tsx';
import { linkClass } from '../../ui/values/link.tsx';
import { Money } from '../../ui/values/money.tsx';
import { statementCommand } from './agent-samples.ts';
import { EarningsCharts } from './earnings-chart.tsx';

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
          <FactRow label="Held">
            <Money amount={balance.held} />
          </FactRow>
          {treasuryId && (
            <FactRow label="Treasury">
              <Copyable label="treasury id" text={treasuryId} />
            </FactRow>
          )}
        </dl>
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
