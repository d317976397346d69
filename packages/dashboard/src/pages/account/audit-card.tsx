import type { AuditEntry } from '@agent-network/contracts/access/audit';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { useState } from 'react';
import { useApi } from '../../app/api-query.ts';
import { useSession } from '../../app/session.ts';
import { Copyable } from '../../ui/controls/copyable.tsx';
import { Card } from '../../ui/layout/card.tsx';
import { type Column, DataTable } from '../../ui/layout/data-table.tsx';
import { EmptyState } from '../../ui/layout/empty-state.tsx';
import { Pagination } from '../../ui/layout/pagination.tsx';
import { Badge, Status } from '../../ui/values/badge.tsx';
import { TimeAgo } from '../../ui/values/time-ago.tsx';
import { browserName } from './browser-name.ts';

const PAGE_SIZE = 50;
/** A change is no event. */
const LOOK_MS = 15_000;

/** The account's audit log, newest first. */
export function AuditCard() {
  const { sessionId } = useSession();
  const { cursor } = useSearch({ from: '/shell/account' });
  const navigate = useNavigate({ from: '/account' });
  const query = { limit: PAGE_SIZE, ...(cursor ? { cursor } : {}) };
  const { data, error, refetch } = useApi(
    'listAudit',
    { query },
    { keepsPrevious: true, refetchIntervalMs: cursor === undefined && LOOK_MS },
  );
  const [columns] = useState(() => auditColumns(sessionId));
  const show = (next: string | undefined) =>
    void navigate({ search: { tab: 'audit', ...(next === undefined ? {} : { cursor: next }) } });
  return (
    <Card isFlush>
      <DataTable
        label="Audit log"
        columns={columns}
        rows={data?.entries}
        rowId={({ entryId }) => entryId}
        error={error}
        onRetry={() => void refetch()}
        empty={<EmptyState title="No changes yet" />}
      />
      {data && (cursor !== undefined || data.nextCursor !== null) && (
        <Pagination
          summary="Kept for 400 days"
          hasNewer={cursor !== undefined}
          hasOlder={data.nextCursor !== null}
          onFirst={() => show(undefined)}
          onOlder={() => show(data.nextCursor ?? undefined)}
        />
      )}
    </Card>
  );
}

const Subject = ({ subject }: { subject: AuditEntry['subject'] }) => (
  <div className="space-y-0.5">
    {Object.entries(subject).map(([kind, id]) => (
      <div key={kind} className="flex items-baseline gap-1.5 whitespace-nowrap">
        <span className="text-[13px] text-muted">{subjectName(kind)}</span>
        <Copyable label={`${subjectName(kind)} id`} text={id} short />
      </div>
    ))}
  </div>
);

const Actor = ({ actor, isThis }: { actor: AuditEntry['actor']; isThis: boolean }) =>
  actor.kind === 'session' ? (
    <span className="whitespace-nowrap">{isThis ? <Badge tone="accent">this session</Badge> : 'a session'}</span>
  ) : (
    <span className="block max-w-48 min-w-24 wrap-anywhere">
      key <bdi className="font-medium">{actor.name}</bdi>
    </span>
  );

const From = ({ address, userAgent }: AuditEntry) => (
  <div className="max-w-56 min-w-32">
    <div className="font-mono text-[13px]">{address}</div>
    <bdi className="block truncate text-[13px] text-muted" title={userAgent ?? undefined}>
      {browserName(userAgent)}
    </bdi>
  </div>
);

const Outcome = ({ outcome, code }: AuditEntry) => (
  <div className="flex items-center gap-2 whitespace-nowrap">
    <Status value={outcome} />
    {code && <code className="text-[13px] text-muted">{code}</code>}
  </div>
);

const auditColumns = (sessionId: string): readonly Column<AuditEntry>[] => [
  {
    header: 'Action',
    cell: ({ action }) => (
      <span className="block min-w-40 font-medium" title={action}>
        {auditText(action)}
      </span>
    ),
  },
  { header: 'Target', phone: 'none', cell: ({ subject }) => <Subject subject={subject} /> },
  { header: 'By', cell: ({ actor }) => <Actor actor={actor} isThis={actor.id === sessionId} /> },
  { header: 'From', phone: 'none', cell: (entry) => <From {...entry} /> },
  { header: 'Outcome', phone: 'top', cell: (entry) => <Outcome {...entry} /> },
  { header: 'When', align: 'right', phone: 'bare', cell: ({ at }) => <TimeAgo at={at} /> },
];

/** Descriptions of audited calls; calls without one are shown by name. */
const texts: Readonly<Record<string, string>> = {
  registerAgent: 'Registered an agent',
  updateAgent: 'Changed an agent',
  removeAgent: 'Removed an agent',
  verifyIdentity: 'Verified an agent',
  claimToken: "Claimed an agent's token",
  linkToken: 'Linked an agent to a token',
  updateIdentityMetadata: 'Changed metadata in the registry',
  createTreasury: 'Opened a treasury',
  withdraw: 'Withdrew funds',
  claimWallet: 'Claimed a wallet',
  signIn: 'Signed in with a wallet to get a key',
  createSession: 'Signed in',
  createLocalSession: 'Signed in as the local account',
  endSession: 'Signed out',
  endSessionById: 'Ended a session',
  endAllSessions: 'Signed out everywhere',
  createApiKey: 'Created an API key',
  setAccountPlan: 'Set the plan of an account',
  suspendAccount: 'Suspended an account',
  resumeAccount: 'Resumed an account',
  revokeApiKey: 'Revoked an API key',
  rollApiKey: 'Rolled an API key',
  createWebhook: 'Added a webhook',
  updateWebhook: 'Changed a webhook',
  deleteWebhook: 'Deleted a webhook',
  deleteFile: 'Deleted a file',
  rotateWebhookSecret: 'Rotated a webhook secret',
  testWebhook: 'Sent a test event to a webhook',
  replayWebhook: 'Replayed webhook deliveries',
  getWebhookSecret: 'Revealed a webhook secret',
};

const auditText = (action: string): string => texts[action] ?? action;

const subjectNames: Readonly<Record<string, string>> = {
  agentId: 'agent',
  keyId: 'key',
  sessionId: 'session',
  treasuryId: 'treasury',
  tokenId: 'token',
  webhookId: 'webhook',
  deliveryId: 'delivery',
  withdrawalId: 'withdrawal',
};

const subjectName = (kind: string): string => subjectNames[kind] ?? kind;
