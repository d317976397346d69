import { Link } from '@tanstack/react-router';
import { Copyable } from '../../ui/copyable.tsx';
import { Duration } from '../../ui/duration.tsx';
import { linkClass } from '../../ui/link.tsx';
import { Money } from '../../ui/money.tsx';
import type { DetailedRecord } from './invocation.ts';

const Row = ({ label, children }: { label: string; children: React.ReactNode }) => (
  <div className="flex min-w-0 items-baseline justify-between gap-4 border-b border-line py-1.5 first:pt-0 last:border-b-0 last:pb-0">
    <dt className="shrink-0 text-muted">{label}</dt>
    <dd className="min-w-0 truncate text-right">{children}</dd>
  </div>
);

const methods = { treasury: 'Treasury', x402: 'Wallet (x402)', free: 'Free' } as const;

/** Who did it, what it cost and how it was paid. */
export const InvocationFacts = ({ record }: { record: DetailedRecord }) => (
  <dl>
    <Row label="Agent">
      <Copyable label="agent id" text={record.agentId} short />
    </Row>
    {record.requestedAgentId && (
      <Row label="Asked for">
        <Copyable label="agent id" text={record.requestedAgentId} short />
      </Row>
    )}
    <Row label="Paid by">{methods[record.paymentMethod]}</Row>
    {record.detail && (
      <Row label="Agreed price">
        <Money amount={record.detail.price} />
      </Row>
    )}
    <Row label="Cost">
      <Money amount={record.cost} />
    </Row>
    <Row label="Refund">
      <Money amount={record.refund} />
    </Row>
    {record.refundExpected && (
      <Row label="Still to come back">
        <Money amount={record.refundExpected} />
      </Row>
    )}
    {record.paymentHash && (
      <Row label="Transaction">
        <Copyable label="transaction hash" text={record.paymentHash} short />
      </Row>
    )}
    <Row label="Duration">
      <Duration value={record.duration} />
    </Row>
    {record.detail && <Row label="Attempts">{record.detail.attempts}</Row>}
    <Row label="Priority">{record.priority}</Row>
    {record.detail?.callerAgentId && (
      <Row label="Called by agent">
        <Copyable label="calling agent id" text={record.detail.callerAgentId} short />
      </Row>
    )}
    {record.detail?.webhookUrl && <Row label="Webhook">{record.detail.webhookUrl}</Row>}
    {record.bulkId && (
      <Row label="Bulk">
        <Link to="/bulk/$bulkId" params={{ bulkId: record.bulkId }} className={linkClass}>
          {record.bulkId}
        </Link>
      </Row>
    )}
  </dl>
);
