import { Link } from '@tanstack/react-router';
import { type Column, rowLinkClass } from '../../ui/layout/data-table.tsx';
import { Status } from '../../ui/values/badge.tsx';
import { TimeAgo } from '../../ui/values/time-ago.tsx';
import { eventsText, shortUrl, type Webhook, webhookState } from './webhook.ts';

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

export const webhookColumns: readonly Column<Webhook>[] = [
  { id: 'url', header: 'Endpoint', cell: (webhook) => <WebhookName webhook={webhook} /> },
  { id: 'state', header: 'State', cell: (webhook) => <Status value={webhookState(webhook, Date.now())} /> },
  {
    id: 'events',
    header: 'Events',
    cell: ({ eventTypes }) => <span className="whitespace-nowrap">{eventsText(eventTypes)}</span>,
  },
  { id: 'failing', header: 'Failing since', cell: ({ failingSince }) => <TimeAgo at={failingSince} /> },
  { id: 'created', header: 'Created', align: 'right', cell: ({ createdAt }) => <TimeAgo at={createdAt} /> },
];
