import type { OperatorInvocation } from '@agent-network/contracts/network/operator-invocation';
import { ChainLink } from '../../app/chain-link.tsx';
import { Copyable } from '../../ui/controls/copyable.tsx';
import type { Column } from '../../ui/layout/data-table.tsx';
import { Status } from '../../ui/values/badge.tsx';
import { Money } from '../../ui/values/money.tsx';
import { TimeAgo } from '../../ui/values/time-ago.tsx';
import { wordsOf } from './trace-steps.ts';

type Payment = OperatorInvocation['payments'][number];
type Transfer = OperatorInvocation['transfers'][number];

/** One row of open work: a webhook delivery or an entry of a queue. */
export interface OpenWork {
  readonly id: string;
  readonly what: string;
  readonly state: string;
  readonly at: string | null;
  readonly detail: string | null;
}

const dash = <span className="text-muted">–</span>;

export const paymentColumns: readonly Column<Payment>[] = [
  { id: 'purpose', header: 'Payment', cell: ({ purpose }) => <span className="font-medium">{wordsOf(purpose)}</span> },
  { id: 'state', header: 'State', cell: ({ state, lostAt }) => <Status value={lostAt === null ? state : 'lost'} /> },
  { id: 'amount', header: 'Amount', align: 'right', cell: ({ amount }) => <Money amount={amount} /> },
  { id: 'from', header: 'From', cell: ({ from }) => <ChainLink kind="address" id={from} label="paying wallet" /> },
  { id: 'to', header: 'To', cell: ({ to }) => <ChainLink kind="address" id={to} label="paid wallet" /> },
  {
    id: 'transaction',
    header: 'Transaction',
    cell: ({ transactionHash }) =>
      transactionHash === null ? dash : <ChainLink kind="tx" id={transactionHash} label="transaction hash" />,
  },
  { id: 'at', header: 'When', align: 'right', cell: ({ endedAt, createdAt }) => <TimeAgo at={endedAt ?? createdAt} /> },
];

export const transferColumns: readonly Column<Transfer>[] = [
  { id: 'kind', header: 'Transfer', cell: ({ kind }) => <span className="font-medium">{wordsOf(kind)}</span> },
  { id: 'amount', header: 'Amount', align: 'right', cell: ({ amount }) => <Money amount={amount} /> },
  { id: 'debit', header: 'From', cell: ({ debit }) => <Copyable label="debited account" text={debit} short /> },
  { id: 'credit', header: 'To', cell: ({ credit }) => <Copyable label="credited account" text={credit} short /> },
  { id: 'at', header: 'When', align: 'right', cell: ({ at }) => <TimeAgo at={at} /> },
];

export const workColumns: readonly Column<OpenWork>[] = [
  { id: 'what', header: 'Work', cell: ({ what }) => <span className="font-medium">{wordsOf(what)}</span> },
  { id: 'state', header: 'State', cell: ({ state }) => <Status value={state} /> },
  {
    id: 'detail',
    header: 'Detail',
    cell: ({ detail }) => <span className="line-clamp-2 max-w-md wrap-anywhere">{detail ?? dash}</span>,
  },
  { id: 'at', header: 'When', align: 'right', cell: ({ at }) => <TimeAgo at={at} /> },
];

/** Everything that waits or was delivered for an invocation, in one list. */
export const workOf = ({ deliveries, queues }: OperatorInvocation): readonly OpenWork[] => [
  ...queues.map(({ kind, at }, index) => ({
    ...{ id: `queue ${kind} ${index}`, what: kind, state: 'pending', at, detail: null },
  })),
  ...deliveries.map(({ deliveryId, type, state, attempts, nextAttemptAt, createdAt }) => ({
    ...{ id: deliveryId, what: `webhook ${type}`, state, at: nextAttemptAt ?? createdAt },
    detail: attempts === 1 ? '1 attempt' : `${attempts} attempts`,
  })),
];
