import { eventTypes } from '@agent-network/contracts/events';
import type { Delivery } from '@agent-network/contracts/webhooks';
import { useQueryClient } from '@tanstack/react-query';
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { useEffect } from 'react';
import { useApi, useApiMutation } from '../../app/api-query.ts';
import { Button } from '../../ui/controls/button.tsx';
import { Copyable } from '../../ui/controls/copyable.tsx';
import { FilterBar } from '../../ui/controls/filter-bar.tsx';
import { Select } from '../../ui/controls/select.tsx';
import { SettledInput } from '../../ui/controls/settled-input.tsx';
import { Card } from '../../ui/layout/card.tsx';
import { type Column, DataTable, rowLinkClass } from '../../ui/layout/data-table.tsx';
import { EmptyState } from '../../ui/layout/empty-state.tsx';
import { Pagination } from '../../ui/layout/pagination.tsx';
import { toast } from '../../ui/overlays/toasts.tsx';
import { Status } from '../../ui/values/badge.tsx';
import { dash } from '../../ui/values/dash.tsx';
import { ErrorNote } from '../../ui/values/error-note.tsx';
import { groupDigits } from '../../ui/values/money.tsx';
import { TimeAgo } from '../../ui/values/time-ago.tsx';
import { attemptText, nextLookMs } from './delivery.ts';
import { DeliveryDrawer } from './delivery-drawer.tsx';

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
    dash
  );
};

const deliveryColumns: readonly Column<Delivery>[] = [
  { header: 'Event', cell: (delivery) => <DeliveryLink delivery={delivery} /> },
  { header: 'Status', phone: 'top', cell: ({ status }) => <Status value={status} /> },
  { header: 'Event ID', phone: 'none', cell: ({ eventId }) => <Copyable label="event id" text={eventId} short /> },
  { header: 'Attempts', align: 'right', cell: ({ attempts }) => attempts.at(-1)?.number ?? 0 },
  { header: 'Last response', phone: 'bare', cell: ({ attempts }) => <LastAnswer attempts={attempts} /> },
  { header: 'Next attempt', cell: ({ nextAttemptAt }) => <TimeAgo at={nextAttemptAt} /> },
  { header: 'Created', phone: 'bare', align: 'right', cell: ({ createdAt }) => <TimeAgo at={createdAt} /> },
];

const PAGE_SIZE = 25;
/** Polling interval, as there is no event for a delivery that was given up. */
const LOOK_MS = 10_000;
const statuses = ['', 'pending', 'delivered', 'failed'].map((value) => ({ value, label: value || 'Any status' }));
const types = ['', ...eventTypes, 'webhook.test'].map((value) => ({ value, label: value || 'Any event' }));

interface DeliveriesCardProps {
  readonly webhookId: string;
  readonly canReplay: boolean;
}

/** Deliveries to an endpoint. Filters, page and the open delivery are in the URL. */
export function DeliveriesCard({ webhookId, canReplay }: DeliveriesCardProps) {
  const search = useSearch({ from: '/shell/webhooks/$webhookId' });
  const navigate = useNavigate({ from: '/webhooks/$webhookId' });
  const set = (change: Partial<typeof search>) =>
    void navigate({ search: (before) => ({ ...before, offset: undefined, ...change }) as typeof search });
  const { status, type, eventId } = search;
  const hasFilter = Boolean(status || type || eventId);
  const offset = Number(search.offset ?? 0) || 0;
  const query = {
    ...(status ? { status: status as Delivery['status'] } : {}),
    ...(type ? { type: type as Delivery['type'] } : {}),
    ...(eventId ? { eventId } : {}),
    ...{ limit: PAGE_SIZE, offset },
  };
  const { data, error, refetch } = useApi(
    'listDeliveries',
    { params: { webhookId }, query },
    { keepsPrevious: true, refetchIntervalMs: ({ deliveries }) => nextLookMs(deliveries, Date.now()) },
  );
  useHealthFollows(data?.deliveries);
  return (
    <Card
      title="Deliveries"
      isFlush
      actions={
        canReplay && (
          <span className="flex items-center gap-3">
            <StillToSend webhookId={webhookId} />
            <RetryFailed webhookId={webhookId} />
          </span>
        )
      }
    >
      <div className="border-b border-line px-4 py-3">
        <DeliveryFilters
          filters={{ status, type, eventId }}
          onChange={set}
          onClear={hasFilter ? () => void navigate({ search: {} }) : undefined}
        />
      </div>
      <DataTable
        label="Delivery list"
        columns={deliveryColumns}
        rows={data?.deliveries}
        rowId={({ deliveryId }) => deliveryId}
        error={error}
        onRetry={() => void refetch()}
        empty={<NoDeliveries hasFilter={hasFilter} webhookId={webhookId} />}
      />
      {data && data.total > 0 && (
        <Pagination
          summary={`${groupDigits(data.total)} total`}
          hasNewer={offset > 0}
          hasOlder={data.hasMore}
          onFirst={() => set({})}
          onOlder={() => set({ offset: String(offset + data.deliveries.length) })}
        />
      )}
      {search.delivery && (
        <DeliveryDrawer
          key={search.delivery}
          webhookId={webhookId}
          deliveryId={search.delivery}
          canReplay={canReplay}
          onClose={() => void navigate({ search: ({ delivery: _, ...rest }) => rest })}
        />
      )}
    </Card>
  );
}

interface Filters {
  readonly status?: string | undefined;
  readonly type?: string | undefined;
  readonly eventId?: string | undefined;
}

interface DeliveryFiltersProps {
  readonly filters: Filters;
  readonly onChange: (change: { status?: string; type?: string; eventId?: string }) => void;
  readonly onClear: (() => void) | undefined;
}

const DeliveryFilters = ({ filters: { status, type, eventId }, onChange, onClear }: DeliveryFiltersProps) => (
  <FilterBar onClear={onClear}>
    <Select
      aria-label="Status"
      value={status ?? ''}
      onChange={(value) => onChange({ status: value })}
      options={statuses}
    />
    <Select aria-label="Event" value={type ?? ''} onChange={(value) => onChange({ type: value })} options={types} />
    <SettledInput
      type="search"
      aria-label="Event ID"
      placeholder="Event ID"
      className="sm:w-60"
      value={eventId ?? ''}
      onChange={(value) => onChange({ eventId: value })}
    />
  </FilterBar>
);

/** An attempt may have changed how the endpoint is doing, which is no event either. */
function useHealthFollows(deliveries: readonly Delivery[] | undefined): void {
  const queryClient = useQueryClient();
  const attempts = deliveries?.reduce((sum, each) => sum + (each.attempts.at(-1)?.number ?? 0), 0);
  useEffect(() => {
    if (attempts !== undefined) void queryClient.invalidateQueries({ queryKey: ['listWebhooks'] });
  }, [attempts, queryClient]);
}

const NoDeliveries = ({ hasFilter, webhookId }: { hasFilter: boolean; webhookId: string }) =>
  hasFilter ? (
    <EmptyState title="No results for these filters" />
  ) : (
    <EmptyState
      title="No deliveries yet"
      command={`curl -H "Authorization: Bearer $AGENT_NETWORK_KEY" \\\n     ${location.origin}/account/webhooks/${webhookId}/deliveries`}
    >
      New events appear here.
    </EmptyState>
  );

/** Sends every delivery that was given up again. There only while there are some. */
function RetryFailed({ webhookId }: { webhookId: string }) {
  const { data } = useApi(
    'listDeliveries',
    { params: { webhookId }, query: { status: 'failed', limit: 1 } },
    { refetchIntervalMs: LOOK_MS },
  );
  const replay = useApiMutation('replayWebhook', {
    invalidates: ['listDeliveries'],
    onSuccess: ({ replayed }) =>
      toast(replayed === 1 ? '1 delivery queued to send again' : `${replayed} deliveries queued to send again`),
  });
  if (!data || data.total === 0) return null;
  return (
    <>
      <Button
        size="sm"
        icon="refresh"
        isBusy={replay.isPending}
        onClick={() => replay.mutate({ params: { webhookId }, body: { status: 'failed' } })}
      >
        Retry all failed ({groupDigits(data.total)})
      </Button>
      <ErrorNote error={replay.error} />
    </>
  );
}

const MOVING_MS = 3_000;

/**
 * Number of deliveries that wait for their turn or for their next attempt: an endpoint gets them one after the other. Hidden while there
 * are none.
 */
function StillToSend({ webhookId }: { webhookId: string }) {
  const { data } = useApi(
    'listDeliveries',
    { params: { webhookId }, query: { status: 'pending', limit: 1 } },
    { refetchIntervalMs: ({ total }) => (total > 0 ? MOVING_MS : LOOK_MS) },
  );
  if (!data || data.total === 0) return null;
  return <span className="text-[13px] text-muted">{groupDigits(data.total)} still to send</span>;
}
