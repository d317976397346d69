import { Link, useNavigate, useParams } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { useApi } from '../../app/api-query.ts';
import { Copyable } from '../../ui/controls/copyable.tsx';
import { Card } from '../../ui/layout/card.tsx';
import { EmptyState } from '../../ui/layout/empty-state.tsx';
import { Page } from '../../ui/layout/page.tsx';
import { Skeleton } from '../../ui/layout/skeleton.tsx';
import { Badge, Status } from '../../ui/values/badge.tsx';
import { CodeBlock } from '../../ui/values/code-block.tsx';
import { ErrorNote } from '../../ui/values/error-note.tsx';
import { linkClass } from '../../ui/values/link.tsx';
import { ExactTime } from '../../ui/values/time-ago.tsx';
import { DeliveriesCard } from './deliveries-card.tsx';
import { SecretCard } from './secret-card.tsx';
import { StandingNote } from './standing-note.tsx';
import { SuccessCard } from './success-card.tsx';
import { verificationSamples } from './verification-samples.ts';
import { ACCOUNT_WEBHOOK, shortUrl, type Webhook, webhookState } from './webhook.ts';
import { WebhookActions } from './webhook-actions.tsx';

/** No event tells that an endpoint fails, so the page asks. */
const LOOK_MS = 10_000;

const up = (
  <Link to="/webhooks" className={linkClass}>
    Webhooks
  </Link>
);

/** One endpoint: how it is doing, its secret, and what was sent to it. */
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
      <StandingNote webhook={webhook} />
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
