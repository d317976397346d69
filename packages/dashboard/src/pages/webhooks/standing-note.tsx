import { useState } from 'react';
import { useApiMutation } from '../../app/api-query.ts';
import { Button } from '../../ui/controls/button.tsx';
import { ErrorNote } from '../../ui/values/error-note.tsx';
import { Note } from '../../ui/values/note.tsx';
import { ExactTime, TimeAgo } from '../../ui/values/time-ago.tsx';
import { RecoverDialog } from './recover-dialog.tsx';
import { type Webhook, webhookState } from './webhook.ts';

/** Reason that an endpoint receives nothing, and the remedy. Empty for a healthy endpoint. */
export function StandingNote({ webhook }: { webhook: Webhook }) {
  const { webhookId, failingSince, pausedUntil, disabledReason } = webhook;
  // Time since which an enabled endpoint may have missed events: enabling it clears the time of its first failure.
  const [missedSince, setMissedSince] = useState<{ at: string | null } | null>(null);
  const enable = useApiMutation('updateWebhook', {
    invalidates: ['listWebhooks'],
    onSuccess: () => setMissedSince({ at: failingSince }),
  });
  const state = webhookState(webhook, Date.now());
  return (
    <>
      {state === 'disabled' && (
        <Note
          tone="bad"
          title="Disabled"
          actions={
            <Button
              isBusy={enable.isPending}
              onClick={() => enable.mutate({ params: { webhookId }, body: { status: 'enabled' } })}
            >
              Enable
            </Button>
          }
        >
          {disabledReason ?? 'Someone with access to this account disabled it.'} No events are sent to it.
        </Note>
      )}
      {state === 'failing' && (
        <Note tone="warn" title="Failing">
          No delivery has succeeded since <ExactTime at={failingSince} />. It will be disabled after five days.
        </Note>
      )}
      {state === 'paused' && (
        <Note tone="warn" title="Paused">
          The endpoint asked to slow down. Next attempt <TimeAgo at={pausedUntil} />.
        </Note>
      )}
      <ErrorNote error={enable.error} />
      {missedSince && (
        <RecoverDialog webhookId={webhookId} failingSince={missedSince.at} onClose={() => setMissedSince(null)} />
      )}
    </>
  );
}
