import type { Delivery } from '@agent-network/contracts/webhooks';
import { useApi, useApiMutation } from '../../app/api-query.ts';
import { Button } from '../../ui/controls/button.tsx';
import { Copyable } from '../../ui/controls/copyable.tsx';
import { Detail, Details } from '../../ui/layout/details.tsx';
import { Skeleton } from '../../ui/layout/skeleton.tsx';
import { Timeline } from '../../ui/layout/timeline.tsx';
import { Drawer } from '../../ui/overlays/drawer.tsx';
import { toast } from '../../ui/overlays/toasts.tsx';
import { Status } from '../../ui/values/badge.tsx';
import { JsonBlock } from '../../ui/values/code-block.tsx';
import { Duration } from '../../ui/values/duration.tsx';
import { ErrorNote } from '../../ui/values/error-note.tsx';
import { ExactTime, TimeAgo } from '../../ui/values/time-ago.tsx';
import { attemptText, isTaken, nextLookMs } from './delivery.ts';

interface DeliveryDrawerProps {
  readonly webhookId: string;
  readonly deliveryId: string;
  /** True if the endpoint is enabled: nothing is replayed to a disabled one. */
  readonly canReplay: boolean;
  readonly onClose: () => void;
}

/** One delivery: its payload, its attempts, and the answers. */
export function DeliveryDrawer({ webhookId, deliveryId, canReplay, onClose }: DeliveryDrawerProps) {
  const call = { params: { webhookId }, query: { deliveryId } };
  const { data, error, refetch } = useApi('listDeliveries', call, {
    refetchIntervalMs: ({ deliveries }) => nextLookMs(deliveries, Date.now()),
  });
  const replay = useApiMutation('replayWebhook', {
    invalidates: ['listDeliveries'],
    onSuccess: () => toast('Queued to send again'),
  });
  const delivery = data?.deliveries[0];
  return (
    <Drawer
      onClose={onClose}
      title={delivery?.type ?? 'Delivery'}
      aside={delivery && <Status value={delivery.status} />}
      actions={
        delivery &&
        delivery.type !== 'webhook.test' && (
          <Button
            icon="refresh"
            isBusy={replay.isPending}
            disabled={!canReplay}
            title={canReplay ? undefined : 'The endpoint is disabled'}
            onClick={() => replay.mutate({ params: { webhookId }, body: { deliveryId } })}
          >
            Replay
          </Button>
        )
      }
    >
      <ErrorNote error={error ?? replay.error} onRetry={error ? () => void refetch() : undefined} />
      {!data && !error && <Skeleton className="h-64 w-full" />}
      {data && !delivery && <p className="text-muted">This endpoint has no such delivery.</p>}
      {delivery && <DeliveryFacts delivery={delivery} />}
    </Drawer>
  );
}

const DeliveryFacts = ({ delivery }: { delivery: Delivery }) => (
  <>
    <Details>
      <Detail label="Event ID">
        <Copyable label="event id" text={delivery.eventId} short />
      </Detail>
      <Detail label="Delivery ID">
        <Copyable label="delivery id" text={delivery.deliveryId} short />
      </Detail>
      <Detail label="Created">
        <ExactTime at={delivery.createdAt} />
      </Detail>
      <Detail label="Next attempt">
        <TimeAgo at={delivery.nextAttemptAt} />
      </Detail>
    </Details>
    <div>
      <h3 className="mb-1 font-semibold">Sent to</h3>
      <Copyable label="URL" text={delivery.url} />
    </div>
    <div>
      <h3 className="mb-2 font-semibold">Attempts</h3>
      <Attempts attempts={delivery.attempts} />
    </div>
    <div>
      <h3 className="mb-2 font-semibold">Body</h3>
      {delivery.payload === null ? (
        <p className="text-muted">Created when it is first sent.</p>
      ) : (
        <JsonBlock label="Body" value={delivery.payload} />
      )}
    </div>
  </>
);

const Attempts = ({ attempts }: { attempts: Delivery['attempts'] }) =>
  attempts.length === 0 ? (
    <p className="text-muted">None yet.</p>
  ) : (
    <Timeline
      label="Attempts"
      entries={attempts.map((attempt) => ({
        title: `${attempt.number}. ${attemptText(attempt)}`,
        at: attempt.at,
        tone: isTaken(attempt) ? 'good' : 'bad',
        detail: (
          <>
            took <Duration value={attempt.durationMs} />
            {attempt.response && (
              <pre
                dir="auto"
                className="mt-1 max-h-40 overflow-y-auto rounded-md bg-sunken px-2 py-1 font-mono text-[13px] wrap-anywhere whitespace-pre-wrap text-text"
              >
                {attempt.response}
              </pre>
            )}
          </>
        ),
      }))}
    />
  );
