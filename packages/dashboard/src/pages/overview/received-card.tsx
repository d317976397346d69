import type { Overview } from '@agent-network/contracts/invocations/figures';
import { Link } from '@tanstack/react-router';
import { Card } from '../../ui/layout/card.tsx';
import { FactRow } from '../../ui/layout/fact-row.tsx';
import { Duration } from '../../ui/values/duration.tsx';
import { linkClass } from '../../ui/values/link.tsx';
import { groupDigits, Money } from '../../ui/values/money.tsx';
import { percentText } from '../../ui/values/percent.ts';

/** Calls by others to the account's own agents, in the period. */
export const ReceivedCard = ({ received }: { received: Overview['received'] }) => (
  <Card
    title="Calls to your agents"
    actions={
      <Link to="/agents" className={linkClass}>
        My agents
      </Link>
    }
  >
    <dl>
      <FactRow label="Calls">{groupDigits(String(received.calls))}</FactRow>
      <FactRow label="Failed">{groupDigits(String(received.failed))}</FactRow>
      <FactRow label="Success rate">{percentText(received.successRate)}</FactRow>
      <FactRow label="p50">
        <Duration value={received.p50Ms} />
      </FactRow>
      <FactRow label="p95">
        <Duration value={received.p95Ms} />
      </FactRow>
      <FactRow label="Earned">
        <Money amount={received.earned} />
      </FactRow>
    </dl>
  </Card>
);
