import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { useApi } from '../../app/api-query.ts';
import { Button } from '../../ui/controls/button.tsx';
import { Card } from '../../ui/layout/card.tsx';
import { DataTable } from '../../ui/layout/data-table.tsx';
import { EmptyState } from '../../ui/layout/empty-state.tsx';
import { Page } from '../../ui/layout/page.tsx';
import { CodeBlock } from '../../ui/values/code-block.tsx';
import { linkClass } from '../../ui/values/link.tsx';
import { CreateWebhookDialog } from './create-webhook-dialog.tsx';
import { verificationSamples } from './verification-samples.ts';
import { ACCOUNT_WEBHOOK } from './webhook.ts';
import { webhookColumns } from './webhook-columns.tsx';

/** No event tells that an endpoint fails, so the page asks. */
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
