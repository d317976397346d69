import { useNavigate, useSearch } from '@tanstack/react-router';
import { useState } from 'react';
import { useApi } from '../../app/api-query.ts';
import { useSession } from '../../app/session.ts';
import { Card } from '../../ui/layout/card.tsx';
import { DataTable } from '../../ui/layout/data-table.tsx';
import { EmptyState } from '../../ui/layout/empty-state.tsx';
import { Pagination } from '../../ui/layout/pagination.tsx';
import { auditColumns } from './audit-columns.tsx';

const PAGE_SIZE = 50;
/** A change is no event. */
const LOOK_MS = 15_000;

/** The account's audit log, newest first. */
export function AuditCard() {
  const { sessionId } = useSession();
  const { cursor } = useSearch({ from: '/shell/account' });
  const navigate = useNavigate({ from: '/account' });
  const query = { limit: PAGE_SIZE, ...(cursor ? { cursor } : {}) };
  const { data, error, refetch } = useApi(
    'listAudit',
    { query },
    { keepsPrevious: true, refetchIntervalMs: cursor === undefined && LOOK_MS },
  );
  const [columns] = useState(() => auditColumns(sessionId));
  const show = (next: string | undefined) =>
    void navigate({ search: { tab: 'audit', ...(next === undefined ? {} : { cursor: next }) } });
  return (
    <Card isFlush>
      <DataTable
        label="Audit log"
        columns={columns}
        rows={data?.entries}
        rowId={({ entryId }) => entryId}
        error={error}
        onRetry={() => void refetch()}
        empty={<EmptyState title="No changes yet" />}
      />
      {data && (cursor !== undefined || data.nextCursor !== null) && (
        <Pagination
          summary="Kept for 400 days"
          hasNewer={cursor !== undefined}
          hasOlder={data.nextCursor !== null}
          onFirst={() => show(undefined)}
          onOlder={() => show(data.nextCursor ?? undefined)}
        />
      )}
    </Card>
  );
}
