import { Link, useParams } from '@tanstack/react-router';
import { useApi } from '../../app/api-query.ts';
import { Copyable } from '../../ui/controls/copyable.tsx';
import { Card } from '../../ui/layout/card.tsx';
import { Page } from '../../ui/layout/page.tsx';
import { Skeleton } from '../../ui/layout/skeleton.tsx';
import { Status } from '../../ui/values/badge.tsx';
import { ErrorNote } from '../../ui/values/error-note.tsx';
import { linkClass } from '../../ui/values/link.tsx';
import { type DetailedRecord, isOpen } from './invocation.ts';
import { InvocationActions } from './invocation-actions.tsx';
import { InvocationContent } from './invocation-content.tsx';
import { InvocationFacts } from './invocation-facts.tsx';
import { ReceiptCard } from './receipt-card.tsx';
import { TimelineCard } from './timeline-card.tsx';

/** Asked again this often while it runs: its end is told by an event, its beginning is not. */
const RUNNING_MS = 2000;

export function InvocationView() {
  const { requestId } = useParams({ from: '/shell/invocations/$requestId' });
  const call = { params: { requestId }, query: { detail: 'true' } } as const;
  const { data, error, refetch } = useApi('getInvocation', call, {
    refetchIntervalMs: (record) => (record && isOpen(record) ? RUNNING_MS : false),
  });
  return (
    <Page
      title="Invocation"
      up={
        <Link to="/invocations" className={linkClass}>
          Invocations
        </Link>
      }
      aside={
        <>
          {data && <Status value={data.status} />}
          <Copyable label="request id" text={requestId} />
        </>
      }
      actions={data && <InvocationActions record={data} />}
    >
      {data ? <Invocation record={data} /> : <Waiting error={error} onRetry={() => void refetch()} />}
    </Page>
  );
}

const Waiting = ({ error, onRetry }: { error: unknown; onRetry: () => void }) =>
  error ? <ErrorNote error={error} onRetry={onRetry} /> : <Skeleton className="h-64 w-full" />;

const Invocation = ({ record }: { record: DetailedRecord }) => (
  <>
    {record.error && (
      <ErrorNote title={`Failed: ${record.error.code.replaceAll('_', ' ')}`} error={record.error.message} />
    )}
    <div className="grid items-start gap-5 lg:grid-cols-[1fr_20rem]">
      <InvocationContent record={record} />
      <div className="min-w-0 space-y-5">
        <TimelineCard record={record} />
        <Card title="Payment">
          <InvocationFacts record={record} />
        </Card>
        <ReceiptCard record={record} />
      </div>
    </div>
  </>
);
