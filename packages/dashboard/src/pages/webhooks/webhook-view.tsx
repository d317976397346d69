import { Link, useNavigate, useParams } from '@tanstack/react-router';
import { type ReactNode, useState } from 'react';
import { useApi, useApiMutation } from '../../app/api-query.ts';
import { useShownTheme } from '../../app/shell/theme.ts';
import { BarChart, countText } from '../../ui/chart/chart.tsx';
import { Button } from '../../ui/controls/button.tsx';
import { Copyable } from '../../ui/controls/copyable.tsx';
import { Card } from '../../ui/layout/card.tsx';
import { EmptyState } from '../../ui/layout/empty-state.tsx';
import { Page } from '../../ui/layout/page.tsx';
import { Skeleton } from '../../ui/layout/skeleton.tsx';
import { Badge, Status } from '../../ui/values/badge.tsx';
import { CodeBlock } from '../../ui/values/code-block.tsx';
import { ErrorNote } from '../../ui/values/error-note.tsx';
import { linkClass } from '../../ui/values/link.tsx';
import { Note } from '../../ui/values/note.tsx';
import { percentText } from '../../ui/values/percent.ts';
import { ExactTime, TimeAgo } from '../../ui/values/time-ago.tsx';
import { DeliveriesCard } from './deliveries-card.tsx';
import { deliverySeries } from './delivery.ts';
import { RecoverDialog } from './recover-dialog.tsx';
import { SecretCard } from './secret-card.tsx';
import { verificationSamples } from './verification-samples.ts';
import { ACCOUNT_WEBHOOK, shortUrl, type Webhook, webhookState } from './webhook.ts';
import { WebhookActions } from './webhook-actions.tsx';

/** Polling interval, as there is no event for a failing endpoint. */
const LOOK_MS = 10_000;

const up = (
  <Link to="/webhooks" className={linkClass}>
    Webhooks
  </Link>
);

/** One endpoint: its status, its secret, and its deliveries. */
export function WebhookView() {
  const { webhookId } = useParams({ from: '/shell/webhooks/$webhookId' });
  if (webhookId === ACCOUNT_WEBHOOK) return <AccountWebhookView />;
  return <EndpointView key={webhookId} webhookId={webhookId} />;
}

const AccountWebhookView = () => (
  <Page
    title="Per-request deliveries"
    description="Deliveries to the webhookUrl of individual requests. They share one secret."
    up={up}
  >
    <SecretCard webhookId={ACCOUNT_WEBHOOK} />
    <DeliveriesCard webhookId={ACCOUNT_WEBHOOK} canReplay />
  </Page>
);

function EndpointView({ webhookId }: { webhookId: string }) {
  const navigate = useNavigate({ from: '/webhooks/$webhookId' });
  const { data, error, refetch } = useApi('listWebhooks', {}, { refetchIntervalMs: LOOK_MS });
  const webhook = data?.webhooks.find((each) => each.webhookId === webhookId);
  if (!webhook)
    return (
      <Page title="Webhook" up={up}>
        {error && <ErrorNote error={error} onRetry={() => void refetch()} />}
        {!data && !error && <Skeleton className="h-64 w-full" />}
        {data && <EmptyState title="Endpoint not found">It may have been deleted.</EmptyState>}
      </Page>
    );
  const showDelivery = (delivery: string) => void navigate({ search: (before) => ({ ...before, delivery }) });
  return (
    <Page
      title={shortUrl(webhook.url)}
      up={up}
      aside={<Status value={webhookState(webhook, Date.now())} />}
      description={webhook.description || undefined}
      actions={<WebhookActions webhook={webhook} onTested={showDelivery} />}
    >
      <HealthNote webhook={webhook} />
      <div className="grid items-start gap-5 lg:grid-cols-2">
        <Card title="Endpoint">
          <Facts webhook={webhook} />
        </Card>
        <SecretCard webhookId={webhookId} />
      </div>
      <SuccessCard webhookId={webhookId} />
      <DeliveriesCard webhookId={webhookId} canReplay={webhook.status === 'enabled'} />
      <Card title="Verify signatures">
        <CodeBlock label="How to verify a delivery" samples={verificationSamples} />
      </Card>
    </Page>
  );
}

const Facts = ({ webhook }: { webhook: Webhook }) => (
  <dl className="space-y-3">
    <Fact label="URL">
      <Copyable label="URL" text={webhook.url} />
    </Fact>
    <Fact label="Events">
      <div className="flex flex-wrap gap-1">
        {webhook.eventTypes === null ? (
          <Badge>all events</Badge>
        ) : (
          webhook.eventTypes.map((type) => <Badge key={type}>{type}</Badge>)
        )}
      </div>
    </Fact>
    <Fact label="ID">
      <Copyable label="webhook id" text={webhook.webhookId} />
    </Fact>
    <Fact label="Created">
      <ExactTime at={webhook.createdAt} />
    </Fact>
  </dl>
);

const Fact = ({ label, children }: { label: string; children: ReactNode }) => (
  <div>
    <dt className="text-[13px] text-muted">{label}</dt>
    <dd className="min-w-0">{children}</dd>
  </div>
);

/** Reason that an endpoint receives nothing, and the remedy. Empty for a healthy endpoint. */
function HealthNote({ webhook }: { webhook: Webhook }) {
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

const LOOKED_AT = 100;

/** Outcomes of the latest delivery attempts over time. Hidden while there are none. */
function SuccessCard({ webhookId }: { webhookId: string }) {
  const theme = useShownTheme();
  const { data } = useApi(
    'listDeliveries',
    { params: { webhookId }, query: { limit: LOOKED_AT } },
    { refetchIntervalMs: LOOK_MS },
  );
  const { timesMs, taken, refused, successRate } = deliverySeries(data?.deliveries ?? []);
  if (successRate === null) return null;
  return (
    <Card
      title="Success rate"
      actions={
        <span className="text-muted">
          <strong className="text-text">{percentText(successRate)}</strong> of attempts for the latest{' '}
          {data?.deliveries.length === 1 ? 'delivery' : `${data?.deliveries.length} deliveries`}
        </span>
      }
    >
      <BarChart
        title="Delivery attempts"
        timesMs={timesMs}
        series={[
          { label: 'Accepted', tone: 'good', values: taken },
          { label: 'Not accepted', tone: 'bad', values: refused },
        ]}
        format={countText}
        heightPx={140}
        theme={theme}
      />
    </Card>
  );
}
