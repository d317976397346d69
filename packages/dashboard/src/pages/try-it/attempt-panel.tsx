import { Link } from '@tanstack/react-router';
import { useApi } from '../../app/api-query.ts';
import { Card } from '../../ui/layout/card.tsx';
import { Skeleton } from '../../ui/layout/skeleton.tsx';
import { Status } from '../../ui/values/badge.tsx';
import { ErrorNote } from '../../ui/values/error-note.tsx';
import { linkClass } from '../../ui/values/link.tsx';
import { isOpen } from '../invocations/invocation.ts';
import { InvocationActions } from '../invocations/invocation-actions.tsx';
import { InvocationFacts } from '../invocations/invocation-facts.tsx';
import { ResultBlock } from '../invocations/result-block.tsx';
import { TimelineCard } from '../invocations/timeline-card.tsx';
import { LiveAnswer } from './live-answer.tsx';
import type { Attempting } from './use-attempt.ts';

const RUNNING_MS = 1000;

interface AttemptPanelProps {
  readonly requestId: string;
  readonly run: Attempting;
}

/** The call that was made: its stream, its result, how it went and what it cost. */
export function AttemptPanel({ requestId, run }: AttemptPanelProps) {
  const call = { params: { requestId }, query: { detail: 'true' as const } };
  const { data: record, error, refetch } = useApi('getInvocation', call);
  useApi('getInvocation', call, { enabled: record !== undefined && isOpen(record), refetchIntervalMs: RUNNING_MS });
  const isStream = run.attempt?.mode === 'stream';
  if (!record)
    return error ? <ErrorNote error={error} onRetry={() => void refetch()} /> : <Skeleton className="h-40 w-full" />;
  return (
    <>
      <Card
        title={
          <span className="inline-flex items-center gap-2">
            Answer <Status value={record.status} />
          </span>
        }
        actions={isOpen(record) && <InvocationActions record={record} />}
      >
        <div className="space-y-4">
          {record.error && (
            <ErrorNote title={`Failed: ${record.error.code.replaceAll('_', ' ')}`} error={record.error.message} />
          )}
          {isStream && <LiveAnswer events={run.events} isLive={run.isBusy} />}
          {record.status === 'completed' && <ResultBlock record={record} />}
          {isOpen(record) && !isStream && <p className="text-muted">The agent is working…</p>}
          <Link to="/invocations/$requestId" params={{ requestId }} className={linkClass}>
            Open this invocation
          </Link>
        </div>
      </Card>
      <TimelineCard record={record} />
      <Card title="Payment">
        <InvocationFacts record={record} />
      </Card>
    </>
  );
}
