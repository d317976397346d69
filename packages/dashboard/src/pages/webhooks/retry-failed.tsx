import { useApi, useApiMutation } from '../../app/api-query.ts';
import { Button } from '../../ui/controls/button.tsx';
import { toast } from '../../ui/overlays/toasts.tsx';
import { ErrorNote } from '../../ui/values/error-note.tsx';
import { groupDigits } from '../../ui/values/money.tsx';

/** No event tells that a delivery was given up, so the page asks. */
const LOOK_MS = 10_000;

/** Sends every delivery that was given up again. There only while there are some. */
export function RetryFailed({ webhookId }: { webhookId: string }) {
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
        Retry all failed ({groupDigits(String(data.total))})
      </Button>
      <ErrorNote error={replay.error} />
    </>
  );
}
