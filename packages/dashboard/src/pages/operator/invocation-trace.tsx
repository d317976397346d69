import type { OperatorInvocation, OperatorTimelineEvent } from '@agent-network/contracts/network/operator-invocation';
import { ChainLink } from '../../app/chain-link.tsx';
import { Copyable } from '../../ui/controls/copyable.tsx';
import { Card } from '../../ui/layout/card.tsx';
import { type Column, DataTable } from '../../ui/layout/data-table.tsx';
import { EmptyState } from '../../ui/layout/empty-state.tsx';
import { FactRow } from '../../ui/layout/fact-row.tsx';
import { Timeline } from '../../ui/layout/timeline.tsx';
import { Status, type Tone } from '../../ui/values/badge.tsx';
import { dash } from '../../ui/values/dash.tsx';
import { Money } from '../../ui/values/money.tsx';
import { Note } from '../../ui/values/note.tsx';
import { TimeAgo } from '../../ui/values/time-ago.tsx';

interface TraceStep {
  readonly title: string;
  readonly at: string;
  readonly tone: Tone;
  readonly text: string | null;
  readonly transactionHash: string | null;
}

const texts: Readonly<Record<OperatorTimelineEvent, readonly [title: string, tone: Tone]>> = {
  payment_shown: ['Payment received', 'neutral'],
  created: ['Accepted', 'accent'],
  payment_settled: ['Payment settled on chain', 'good'],
  payment_failed: ['Payment failed', 'bad'],
  held: ['Money held', 'neutral'],
  started: ['Agent called', 'accent'],
  bill_signed: ["Agent's charge signed", 'neutral'],
  completed: ['Completed', 'good'],
  failed: ['Failed', 'bad'],
  cancelled: ['Cancelled', 'neutral'],
  released: ['Hold released', 'good'],
  bill_collected: ['Charge collected by the agent', 'neutral'],
  bill_returned: ['Charge not collected, money returned', 'neutral'],
  refund_signed: ['Refund signed', 'warn'],
  refund_settled: ['Refund settled on chain', 'good'],
  refund_credited: ['Refund credited at this node', 'good'],
  webhook_delivered: ['Webhook delivered', 'good'],
  webhook_failed: ['Webhook attempt failed', 'bad'],
};

/** The reason of an end or a state, as words: "agent_error" becomes "agent error". */
const wordsOf = (code: string): string => code.replaceAll('_', ' ');

/** The timeline of an invocation, ready to be shown. */
const stepsOf = ({ timeline, reason }: OperatorInvocation): readonly TraceStep[] =>
  timeline.map(({ event, at, amount, transactionHash, reason: detail }) => {
    const [title, tone] = texts[event];
    const said = detail === reason && detail !== null ? wordsOf(detail) : detail;
    const text = [amount === null ? null : `${amountText(event, amount)}`, said].filter(Boolean).join('. ') || null;
    return { title, tone, at, text, transactionHash };
  });

function amountText(event: OperatorTimelineEvent, amount: string): string {
  if (event === 'created') return `Price: ${amount} USDC`;
  const isEnd = event === 'completed' || event === 'failed' || event === 'cancelled';
  return isEnd ? `Cost: ${amount} USDC` : `${amount} USDC`;
}

type Payment = OperatorInvocation['payments'][number];
type Transfer = OperatorInvocation['transfers'][number];

/** One row of open work: a webhook delivery or an entry of a queue. */
interface OpenWork {
  readonly id: string;
  readonly what: string;
  readonly state: string;
  readonly at: string | null;
  readonly detail: string | null;
}

const paymentColumns: readonly Column<Payment>[] = [
  { header: 'Payment', cell: ({ purpose }) => <span className="font-medium">{wordsOf(purpose)}</span> },
  { header: 'State', cell: ({ state, lostAt }) => <Status value={lostAt === null ? state : 'lost'} /> },
  { header: 'Amount', align: 'right', cell: ({ amount }) => <Money amount={amount} /> },
  { header: 'From', cell: ({ from }) => <ChainLink kind="address" id={from} label="paying wallet" /> },
  { header: 'To', cell: ({ to }) => <ChainLink kind="address" id={to} label="paid wallet" /> },
  { header: 'Transaction', cell: ({ transactionHash }) => <ChainLink kind="tx" id={transactionHash} /> },
  { header: 'When', align: 'right', cell: ({ endedAt, createdAt }) => <TimeAgo at={endedAt ?? createdAt} /> },
];

const transferColumns: readonly Column<Transfer>[] = [
  { header: 'Transfer', cell: ({ kind }) => <span className="font-medium">{wordsOf(kind)}</span> },
  { header: 'Amount', align: 'right', cell: ({ amount }) => <Money amount={amount} /> },
  { header: 'From', cell: ({ debit }) => <Copyable label="debited account" text={debit} short /> },
  { header: 'To', cell: ({ credit }) => <Copyable label="credited account" text={credit} short /> },
  { header: 'When', align: 'right', cell: ({ at }) => <TimeAgo at={at} /> },
];

const workColumns: readonly Column<OpenWork>[] = [
  { header: 'Work', cell: ({ what }) => <span className="font-medium">{wordsOf(what)}</span> },
  { header: 'State', cell: ({ state }) => <Status value={state} /> },
  {
    header: 'Detail',
    cell: ({ detail }) => <span className="line-clamp-2 max-w-md wrap-anywhere">{detail ?? dash}</span>,
  },
  { header: 'When', align: 'right', cell: ({ at }) => <TimeAgo at={at} /> },
];

/** Everything that waits or was delivered for an invocation, in one list. */
const workOf = ({ deliveries, queues }: OperatorInvocation): readonly OpenWork[] => [
  ...queues.map(({ kind, at }, index) => ({
    ...{ id: `queue ${kind} ${index}`, what: kind, state: 'pending', at, detail: null },
  })),
  ...deliveries.map(({ deliveryId, type, state, attempts, nextAttemptAt, createdAt }) => ({
    ...{ id: deliveryId, what: `webhook ${type}`, state, at: nextAttemptAt ?? createdAt },
    detail: attempts === 1 ? '1 attempt' : `${attempts} attempts`,
  })),
];

interface TraceProps {
  readonly trace: OperatorInvocation;
}

/** An invocation for an operator: the reason of its end and its refund first, then the timeline and all that belongs to it. */
export const InvocationTrace = ({ trace }: TraceProps) => (
  <section aria-label={`Invocation ${trace.requestId}`} className="space-y-5">
    <Reason trace={trace} />
    <div className="grid items-start gap-5 lg:grid-cols-2">
      <Card title="Timeline">
        <Timeline label="Timeline of the invocation" entries={stepsOf(trace).map(toEntry)} />
      </Card>
      <div className="min-w-0 space-y-5">
        <RefundCard refund={trace.refund} />
        {trace.voucher && <VoucherCard voucher={trace.voucher} />}
        <FactsCard trace={trace} />
      </div>
    </div>
    <Tables trace={trace} />
  </section>
);

const Reason = ({ trace: { status, reason, message } }: TraceProps) => (
  <Note
    tone={status === 'failed' ? 'bad' : 'neutral'}
    title={reason === null ? `Status: ${status}` : `${wordsOf(status)}: ${wordsOf(reason)}`}
  >
    {message}
  </Note>
);

const toEntry = (step: TraceStep) => ({
  ...{ title: step.title, at: step.at, tone: step.tone },
  detail: (step.text || step.transactionHash) && (
    <>
      {step.text && <p className="max-h-40 overflow-y-auto">{step.text}</p>}
      {step.transactionHash && <ChainLink kind="tx" id={step.transactionHash} />}
    </>
  ),
});

const ways = {
  treasury: 'Released to the treasury',
  channel: 'Freed in the channel',
  on_chain: 'Transfer on chain',
  credited: 'Credited at this node',
} as const;

const RefundCard = ({ refund }: Pick<OperatorInvocation, 'refund'>) => (
  <Card title="Refund">
    {refund === null ? (
      <p className="text-muted">The invocation is still open.</p>
    ) : (
      <>
        <dl>
          <FactRow label="Refunded">
            <Money amount={refund.amount} />
          </FactRow>
          {refund.expected && (
            <FactRow label="Expected from the home node">
              <Money amount={refund.expected} />
            </FactRow>
          )}
        </dl>
        <ul aria-label="Parts of the refund" className="mt-3 space-y-3">
          {refund.parts.map((part) => (
            <li key={`${part.way} ${part.at}`} className="rounded-md border border-line p-3">
              <div className="flex flex-wrap items-center justify-between gap-2">
                <span className="font-medium">{ways[part.way]}</span>
                <Status value={part.state} />
              </div>
              <div className="mt-1 flex flex-wrap items-center justify-between gap-x-4 gap-y-1">
                <Money amount={part.amount} />
                <Copyable label="receiver of the refund" text={part.to} short />
                {part.transactionHash && <ChainLink kind="tx" id={part.transactionHash} label="refund transaction" />}
              </div>
            </li>
          ))}
        </ul>
      </>
    )}
  </Card>
);

function voucherState({ charged }: NonNullable<OperatorInvocation['voucher']>): string {
  if (charged === null) return 'reserved';
  return Number(charged) === 0 ? 'released' : 'charged';
}

const VoucherCard = ({ voucher }: { voucher: NonNullable<OperatorInvocation['voucher']> }) => (
  <Card title="Voucher" actions={<Status value={voucherState(voucher)} />}>
    <dl>
      <FactRow label="Channel">
        <Copyable label="channel id" text={voucher.channelId} short />
      </FactRow>
      <FactRow label="Voucher total">
        <Money amount={voucher.voucher} />
      </FactRow>
      <FactRow label="Reserved">
        <Money amount={voucher.reserved} />
      </FactRow>
      <FactRow label="Charged">
        <Money amount={voucher.charged} />
      </FactRow>
      <FactRow label="Released">
        <Money amount={voucher.released} />
      </FactRow>
    </dl>
  </Card>
);

const FactsCard = ({ trace }: TraceProps) => (
  <Card title="Details" actions={<Status value={trace.status} />}>
    <dl>
      <FactRow label="Account">
        <Copyable label="account id" text={trace.accountId} short />
      </FactRow>
      <FactRow label="Agent">
        <Copyable label="agent id" text={trace.agentId} short />
      </FactRow>
      <FactRow label="Paid by">{trace.paymentMethod}</FactRow>
      {trace.payer && (
        <FactRow label="Payer">
          <Copyable label="paying ledger account" text={trace.payer} short />
        </FactRow>
      )}
      <FactRow label="Price">
        <Money amount={trace.price} />
      </FactRow>
      <FactRow label="Cost">
        <Money amount={trace.cost} />
      </FactRow>
      <FactRow label="Attempts">{trace.attempts}</FactRow>
      {trace.processId && (
        <FactRow label="Process">
          <Copyable label="process id" text={trace.processId} short />
        </FactRow>
      )}
      {trace.bulkId && (
        <FactRow label="Bulk request">
          <Copyable label="bulk id" text={trace.bulkId} short />
        </FactRow>
      )}
      {trace.home && (
        <FactRow label="On its home node">
          <Copyable label="id at the home node" text={trace.home.requestId} short />
        </FactRow>
      )}
    </dl>
  </Card>
);

const Tables = ({ trace }: TraceProps) => (
  <>
    <Card title="Payments on chain" isFlush>
      <DataTable
        label="Payments of the invocation"
        columns={paymentColumns}
        rows={trace.payments}
        rowId={({ paymentId }) => paymentId}
        empty={<EmptyState title="No on-chain payments" />}
      />
    </Card>
    <Card title="Ledger transfers" isFlush>
      <DataTable
        label="Transfers of the invocation"
        columns={transferColumns}
        rows={trace.transfers}
        rowId={({ transferId }) => transferId}
        empty={<EmptyState title="No ledger transfers" />}
      />
    </Card>
    <Card title="Deliveries and queues" isFlush>
      <DataTable
        label="Work for the invocation"
        columns={workColumns}
        rows={workOf(trace)}
        rowId={({ id }) => id}
        empty={<EmptyState title="No pending work" />}
      />
    </Card>
  </>
);
