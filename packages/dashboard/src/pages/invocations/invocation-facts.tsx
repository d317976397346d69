import { unitText } from '@agent-network/contracts/agents/price-text';
import type { CallUsage, UsageComparison } from '@agent-network/contracts/invocations/usage';
import { Link } from '@tanstack/react-router';
import { Copyable } from '../../ui/controls/copyable.tsx';
import { FactRow } from '../../ui/layout/fact-row.tsx';
import { Duration } from '../../ui/values/duration.tsx';
import { linkClass } from '../../ui/values/link.tsx';
import { Money } from '../../ui/values/money.tsx';
import { AgentName } from './agent-name.tsx';
import type { DetailedRecord } from './invocation.ts';

const methods = { treasury: 'Treasury', x402: 'Wallet (x402)', free: 'Free' } as const;

/** Agent, cost and payment of an invocation. */
export const InvocationFacts = ({ record }: { record: DetailedRecord }) => (
  <dl>
    <FactRow label="Agent">
      <AgentName id={record.agentId} />
    </FactRow>
    {record.requestedAgentId && (
      <FactRow label="Requested agent">
        <AgentName id={record.requestedAgentId} />
      </FactRow>
    )}
    {record.chosen && (
      <FactRow label="Matched to the task">
        score {record.chosen.score.toFixed(3)}, of {record.chosen.considered} considered
      </FactRow>
    )}
    <FactRow label="Paid by">{methods[record.paymentMethod]}</FactRow>
    {record.detail && (
      <FactRow label="Agreed price">
        <Money amount={record.detail.price} />
      </FactRow>
    )}
    <FactRow label="Cost">
      <Money amount={record.cost} />
    </FactRow>
    {record.usage && <UsedRow usage={record.usage} comparison={record.detail?.usage} />}
    <FactRow label="Refund">
      <Money amount={record.refund} />
    </FactRow>
    {record.refundExpected && (
      <FactRow label="Refund pending">
        <Money amount={record.refundExpected} />
      </FactRow>
    )}
    {record.paymentHash && (
      <FactRow label="Transaction">
        <Copyable label="transaction hash" text={record.paymentHash} short />
      </FactRow>
    )}
    <FactRow label="Duration">
      <Duration value={record.duration} />
    </FactRow>
    {record.detail && <FactRow label="Attempts">{record.detail.attempts}</FactRow>}
    <FactRow label="Priority">{record.priority}</FactRow>
    {record.detail?.callerAgentId && (
      <FactRow label="Called by agent">
        <Copyable label="calling agent id" text={record.detail.callerAgentId} short />
      </FactRow>
    )}
    {record.detail?.webhookUrl && <FactRow label="Webhook">{record.detail.webhookUrl}</FactRow>}
    {record.bulkId && (
      <FactRow label="Bulk">
        <Link to="/bulk/$bulkId" params={{ bulkId: record.bulkId }} className={linkClass}>
          {record.bulkId}
        </Link>
      </FactRow>
    )}
  </dl>
);

const sources: Record<CallUsage['source'], string> = {
  agent: 'claimed by the agent',
  upstream: "read from the answer of the agent's model",
  node: 'measured by the node',
};

interface UsedRowProps {
  readonly usage: CallUsage;
  readonly comparison?: UsageComparison | undefined;
}

/** Usage of an invocation, with its source. */
const UsedRow = ({ usage, comparison }: UsedRowProps) => (
  <FactRow label="Used">
    <ul>
      {usage.units.map(({ unit, quantity }) => (
        <li key={unit}>
          {Number(quantity).toLocaleString('en-US', { maximumFractionDigits: 6 })} {unitText(unit)}
          <Times comparison={comparison} unit={unit} />
        </li>
      ))}
    </ul>
    <p className="text-muted">
      {sources[usage.source]}
      {usage.model === undefined ? '' : ` (${usage.model})`}
    </p>
  </FactRow>
);

/** The distance of a claim from the agent's own median, if it is large. */
function Times({ comparison, unit }: { readonly comparison: UsageComparison | undefined; readonly unit: string }) {
  const found = comparison?.units.find((each) => each.unit === unit);
  return found?.isFar ? (
    <strong className="text-warn">
      {' '}
      {found.times.toLocaleString('en-US')} times the usual for a call of this size
    </strong>
  ) : null;
}
