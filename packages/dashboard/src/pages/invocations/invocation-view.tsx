import { useMutation } from '@tanstack/react-query';
import { Link, useParams } from '@tanstack/react-router';
import { lazy, Suspense } from 'react';
import { useApi } from '../../app/api-query.ts';
import { client } from '../../app/client.ts';
import { Button } from '../../ui/controls/button.tsx';
import { Copyable } from '../../ui/controls/copyable.tsx';
import { Card } from '../../ui/layout/card.tsx';
import { Page } from '../../ui/layout/page.tsx';
import { Skeleton } from '../../ui/layout/skeleton.tsx';
import { Waiting } from '../../ui/layout/waiting.tsx';
import { Status } from '../../ui/values/badge.tsx';
import { ErrorNote } from '../../ui/values/error-note.tsx';
import { linkClass } from '../../ui/values/link.tsx';
import { AgentProgress } from './agent-progress.tsx';
import { type DetailedRecord, isOpen } from './invocation.ts';
import { InvocationActions } from './invocation-actions.tsx';
import { InvocationContent } from './invocation-content.tsx';
import { InvocationFacts } from './invocation-facts.tsx';
import { QuestionCard } from './question-card.tsx';
import { TimelineCard } from './timeline-card.tsx';

/** Polling interval while it runs, since there is an event for its end but not for its start. */
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

const Invocation = ({ record }: { record: DetailedRecord }) => (
  <>
    {record.error && (
      <ErrorNote title={`Failed: ${record.error.code.replaceAll('_', ' ')}`} error={record.error.message} />
    )}
    <AgentProgress record={record} />
    <QuestionCard record={record} />
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

const Receipt = lazy(() => import('./receipt.tsx').then((module) => ({ default: module.Receipt })));

/** The signed receipt of an invocation that has ended, and its check in this browser. */
function ReceiptCard({ record }: { record: DetailedRecord }) {
  const { requestId } = record;
  const read = useMutation({ mutationFn: () => client.getReceipt({ params: { requestId } }) });
  if (isOpen(record)) return null;
  return (
    <Card title="Receipt">
      {read.data ? (
        <Suspense fallback={<Skeleton className="h-64 w-full" />}>
          <Receipt receipt={read.data} record={record} />
        </Suspense>
      ) : (
        <div className="space-y-3">
          <p className="text-muted">
            Signed by the node: who paid whom, how much, for which task and with what result. You can verify it without
            the node.
          </p>
          <ErrorNote error={read.error} />
          <Button className="w-full" isBusy={read.isPending} onClick={() => read.mutate()}>
            Get receipt
          </Button>
        </div>
      )}
    </Card>
  );
}
