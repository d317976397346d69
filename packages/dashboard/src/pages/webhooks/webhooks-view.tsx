import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { useState } from 'react';
import { useApi } from '../../app/api-query.ts';
import { Button } from '../../ui/controls/button.tsx';
import { Card } from '../../ui/layout/card.tsx';
import { type Column, DataTable, rowLinkClass } from '../../ui/layout/data-table.tsx';
import { EmptyState } from '../../ui/layout/empty-state.tsx';
import { Page } from '../../ui/layout/page.tsx';
import { Actions, Dialog } from '../../ui/overlays/dialog.tsx';
import { Status } from '../../ui/values/badge.tsx';
import { CodeBlock } from '../../ui/values/code-block.tsx';
import { linkClass } from '../../ui/values/link.tsx';
import { Secret } from '../../ui/values/secret.tsx';
import { TimeAgo } from '../../ui/values/time-ago.tsx';
import { verificationSamples } from './verification-samples.ts';
import { ACCOUNT_WEBHOOK, eventsText, shortUrl, type Webhook, webhookState } from './webhook.ts';
import { CreateWebhookForm } from './webhook-form.tsx';

const WebhookName = ({ webhook }: { webhook: Webhook }) => (
  <div className="max-w-96 min-w-44">
    <Link
      to="/webhooks/$webhookId"
      params={{ webhookId: webhook.webhookId }}
      className={`${rowLinkClass} block truncate`}
      title={webhook.url}
    >
      {shortUrl(webhook.url)}
    </Link>
    {webhook.description && (
      <div dir="auto" className="truncate text-[13px] text-muted">
        {webhook.description}
      </div>
    )}
  </div>
);

const webhookColumns: readonly Column<Webhook>[] = [
  { header: 'Endpoint', cell: (webhook) => <WebhookName webhook={webhook} /> },
  { header: 'State', phone: 'top', cell: (webhook) => <Status value={webhookState(webhook, Date.now())} /> },
  {
    header: 'Events',
    phone: 'bare',
    cell: ({ eventTypes }) => <span className="whitespace-nowrap">{eventsText(eventTypes)}</span>,
  },
  { header: 'Failing since', cell: ({ failingSince }) => <TimeAgo at={failingSince} /> },
  { header: 'Created', phone: 'none', align: 'right', cell: ({ createdAt }) => <TimeAgo at={createdAt} /> },
];

/** Polling interval, as there is no event for a failing endpoint. */
const LOOK_MS = 10_000;

/** The endpoints of the account that events are sent to. */
export function WebhooksView() {
  const { data, error, refetch } = useApi('listWebhooks', {}, { refetchIntervalMs: LOOK_MS });
  const { new: isNew } = useSearch({ from: '/shell/webhooks' });
  const navigate = useNavigate({ from: '/webhooks' });
  const create = (isOpen: boolean) => void navigate({ search: isOpen ? { new: 'true' } : {} });
  return (
    <Page
      title="Webhooks"
      description="Signed events are sent to your endpoints and retried until they respond with 2xx."
      actions={
        <Button variant="primary" icon="plus" onClick={() => create(true)}>
          Add endpoint
        </Button>
      }
    >
      <Card title="Endpoints" isFlush>
        <DataTable
          label="Webhook endpoints"
          columns={webhookColumns}
          rows={data?.webhooks}
          rowId={({ webhookId }) => webhookId}
          error={error}
          onRetry={() => void refetch()}
          empty={<NoEndpoints />}
        />
      </Card>
      <Card title="Per-request webhooks">
        <p className="text-muted">
          A request can set its own <code>webhookUrl</code>. Those deliveries and their signing secret are under{' '}
          <Link to="/webhooks/$webhookId" params={{ webhookId: ACCOUNT_WEBHOOK }} className={`${linkClass} underline`}>
            per-request deliveries
          </Link>
          .
        </p>
      </Card>
      <Card title="Verify signatures">
        <CodeBlock label="How to verify a delivery" samples={verificationSamples} />
      </Card>
      {isNew && <CreateWebhookDialog onClose={() => create(false)} />}
    </Page>
  );
}

const NoEndpoints = () => (
  <EmptyState
    title="No endpoints yet"
    command={`curl -H "Authorization: Bearer $AGENT_NETWORK_KEY" \\\n     -H 'Content-Type: application/json' \\\n     -d '{"url":"https://example.com/hooks"}' \\\n     ${location.origin}/account/webhooks`}
  >
    Add one, then send it a test.
  </EmptyState>
);

/** Asks for the properties of an endpoint, then shows its secret and how to verify deliveries. */
function CreateWebhookDialog({ onClose }: { onClose: () => void }) {
  const navigate = useNavigate();
  const [made, setMade] = useState<{ webhookId: string; secret: string } | null>(null);
  if (!made)
    return (
      <Dialog isOpen onClose={onClose} title="Add an endpoint">
        <CreateWebhookForm onCancel={onClose} onMade={setMade} />
      </Dialog>
    );
  const open = () => void navigate({ to: '/webhooks/$webhookId', params: { webhookId: made.webhookId } });
  return (
    <Dialog isOpen onClose={open} title="Endpoint added" description="Every delivery is signed with this secret.">
      <div className="space-y-4">
        <Secret value={made.secret} label="Signing secret" isShownAgain />
        <CodeBlock label="How to verify a delivery" samples={verificationSamples} />
      </div>
      <Actions>
        <Button variant="primary" onClick={open}>
          Done
        </Button>
      </Actions>
    </Dialog>
  );
}
