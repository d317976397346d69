import type { OwnAgent } from '@agent-network/contracts/invocations/figures';
import { Link } from '@tanstack/react-router';
import { Copyable } from '../../ui/controls/copyable.tsx';
import { Card } from '../../ui/layout/card.tsx';
import { FactRow } from '../../ui/layout/fact-row.tsx';
import { CodeBlock } from '../../ui/values/code-block.tsx';
import { linkClass } from '../../ui/values/link.tsx';
import { Money } from '../../ui/values/money.tsx';
import { statementCommand } from './agent-samples.ts';

/** The agent's earnings, less fees, and the treasury that holds them. */
export const EarningsTab = ({ agent: { earned, balance, treasuryId } }: { agent: OwnAgent }) => (
  <div className="grid items-start gap-5 lg:grid-cols-2">
    <Card title="Earned after fees">
      <dl>
        <FactRow label="Today">
          <Money amount={earned.today} />
        </FactRow>
        <FactRow label="7 days">
          <Money amount={earned.days7} />
        </FactRow>
        <FactRow label="30 days">
          <Money amount={earned.days30} />
        </FactRow>
      </dl>
    </Card>
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
);
