import type { AgentCallItem } from '@agent-network/contracts/agents/agent-calls';
import { Link } from '@tanstack/react-router';
import { Copyable } from '../../../ui/controls/copyable.tsx';
import type { Column } from '../../../ui/layout/data-table.tsx';
import { Badge, Status } from '../../../ui/values/badge.tsx';
import { Duration } from '../../../ui/values/duration.tsx';
import { linkClass } from '../../../ui/values/link.tsx';
import { Money } from '../../../ui/values/money.tsx';
import { TimeAgo } from '../../../ui/values/time-ago.tsx';
import { callerText, faceText } from './agent-calls.ts';

const dash = <span className="text-muted">–</span>;

/** A request of the owner's own leads to it; others are named only. */
const Request = ({ call: { requestId, isOwn } }: { call: AgentCallItem }) =>
  isOwn ? (
    <Link to="/invocations/$requestId" params={{ requestId }} className={linkClass}>
      Invocation
    </Link>
  ) : (
    <Copyable label="request id" text={requestId} short />
  );

const Failure = ({ error }: Pick<AgentCallItem, 'error'>) =>
  error === null ? (
    dash
  ) : (
    <span className="flex min-w-40 max-w-96 flex-col items-start gap-0.5">
      <Badge tone="bad">{error.code.replaceAll('_', ' ')}</Badge>
      {error.message !== null && (
        <bdi className="line-clamp-2 text-[13px] text-muted wrap-anywhere">{error.message}</bdi>
      )}
    </span>
  );

export const callColumns: readonly Column<AgentCallItem>[] = [
  { id: 'at', header: 'When', cell: ({ createdAt }) => <TimeAgo at={createdAt} /> },
  { id: 'status', header: 'Status', cell: ({ status }) => <Status value={status} /> },
  { id: 'caller', header: 'Caller', cell: (call) => <span className="whitespace-nowrap">{callerText(call)}</span> },
  { id: 'face', header: 'Through', cell: ({ face }) => <span className="whitespace-nowrap">{faceText(face)}</span> },
  { id: 'latency', header: 'Latency', align: 'right', cell: ({ latencyMs }) => <Duration value={latencyMs} /> },
  { id: 'cost', header: 'Cost', align: 'right', cell: ({ cost }) => <Money amount={cost} /> },
  { id: 'error', header: 'Error', cell: ({ error }) => <Failure error={error} /> },
  { id: 'request', header: 'Request', cell: (call) => <Request call={call} /> },
];
