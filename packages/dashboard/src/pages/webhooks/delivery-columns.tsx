import type { Delivery } from '@agent-network/contracts/webhooks';
import { Link } from '@tanstack/react-router';
import { Copyable } from '../../ui/controls/copyable.tsx';
import { type Column, rowLinkClass } from '../../ui/layout/data-table.tsx';
import { Status } from '../../ui/values/badge.tsx';
import { TimeAgo } from '../../ui/values/time-ago.tsx';
import { attemptText } from './delivery.ts';

const DeliveryLink = ({ delivery: { deliveryId, type } }: { delivery: Delivery }) => (
  <Link
    from="/webhooks/$webhookId"
    to="."
    search={(before) => ({ ...before, delivery: deliveryId })}
    className={`${rowLinkClass} whitespace-nowrap`}
  >
    {type}
  </Link>
);

const LastAnswer = ({ attempts }: { attempts: Delivery['attempts'] }) => {
  const last = attempts.at(-1);
  return last ? (
    <span className="block max-w-64 truncate" title={attemptText(last)}>
      {attemptText(last)}
    </span>
  ) : (
    <span className="text-muted">–</span>
  );
};

export const deliveryColumns: readonly Column<Delivery>[] = [
  { id: 'type', header: 'Event', cell: (delivery) => <DeliveryLink delivery={delivery} /> },
  { id: 'status', header: 'Status', cell: ({ status }) => <Status value={status} /> },
  { id: 'eventId', header: 'Event ID', cell: ({ eventId }) => <Copyable label="event id" text={eventId} short /> },
  { id: 'attempts', header: 'Attempts', align: 'right', cell: ({ attempts }) => attempts.at(-1)?.number ?? 0 },
  { id: 'answer', header: 'Last response', cell: ({ attempts }) => <LastAnswer attempts={attempts} /> },
  { id: 'next', header: 'Next attempt', cell: ({ nextAttemptAt }) => <TimeAgo at={nextAttemptAt} /> },
  { id: 'created', header: 'Created', align: 'right', cell: ({ createdAt }) => <TimeAgo at={createdAt} /> },
];
