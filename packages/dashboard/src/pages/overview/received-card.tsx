import type { Overview } from '@agent-network/contracts/figures';
import { Link } from '@tanstack/react-router';
import { Card } from '../../ui/card.tsx';
import { Duration } from '../../ui/duration.tsx';
import { FactRow } from '../../ui/fact-row.tsx';
import { linkClass } from '../../ui/link.tsx';
import { groupDigits, Money } from '../../ui/money.tsx';
import { percentText } from '../../ui/percent.ts';

/** What others had the account's own agents do, in the period. */
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
