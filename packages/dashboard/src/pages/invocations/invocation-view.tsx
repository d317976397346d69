import { Link, useParams } from '@tanstack/react-router';
import { useApi } from '../../app/api-query.ts';
import { Status } from '../../ui/badge.tsx';
import { Card } from '../../ui/card.tsx';
import { CodeBlock, JsonBlock } from '../../ui/code-block.tsx';
import { Copyable } from '../../ui/copyable.tsx';
import { ErrorNote } from '../../ui/error-note.tsx';
import { linkClass } from '../../ui/link.tsx';
import { Page } from '../../ui/page.tsx';
import { Skeleton } from '../../ui/skeleton.tsx';
import { Timeline } from '../../ui/timeline.tsx';
import { callSamples } from './call-samples.ts';
import { isOpen } from './invocation.ts';
import { InvocationActions } from './invocation-actions.tsx';
import { InvocationFacts } from './invocation-facts.tsx';
import { timelineOf } from './invocation-timeline.ts';
import { ResultBlock } from './result-block.tsx';

/** Asked again this often while it runs: its end is told by an event, its beginning is not. */
const RUNNING_MS = 2000;

export function InvocationView() {
  const { requestId } = useParams({ from: '/shell/invocations/$requestId' });
  const call = { params: { requestId } };
  const { data: record, error, refetch } = useApi('getInvocation', call);
  useApi('getInvocation', call, { enabled: record !== undefined && isOpen(record), refetchIntervalMs: RUNNING_MS });
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
          {record && <Status value={record.status} />}
          <Copyable label="request id" text={requestId} />
        </>
      }
      actions={record && <InvocationActions record={record} />}
    >
      {!record &&
        (error ? <ErrorNote error={error} onRetry={() => void refetch()} /> : <Skeleton className="h-64 w-full" />)}
      {record && (
        <>
          {record.error && (
            <ErrorNote title={`Failed: ${record.error.code.replaceAll('_', ' ')}`} error={record.error.message} />
          )}
          <div className="grid items-start gap-5 lg:grid-cols-[1fr_20rem]">
            <div className="min-w-0 space-y-5">
              <Card title="Task">
                <p className="max-h-96 overflow-y-auto wrap-anywhere whitespace-pre-wrap">{record.task}</p>
              </Card>
              <Card title="Result">
                <ResultBlock record={record} />
              </Card>
              {Object.keys(record.metadata).length > 0 && (
                <Card title="Metadata">
                  <JsonBlock label="Metadata" value={record.metadata} />
                </Card>
              )}
              <Card title="The same call">
                <CodeBlock label="The same call" samples={callSamples(record, location.origin)} />
              </Card>
            </div>
            <div className="min-w-0 space-y-5">
              <Card title="Timeline">
                <Timeline label="Timeline" entries={timelineOf(record)} />
              </Card>
              <Card title="Payment">
                <InvocationFacts record={record} />
              </Card>
            </div>
          </div>
        </>
      )}
    </Page>
  );
}
