import type { OwnAgent } from '@agent-network/contracts/invocations/figures';
import { Link, useNavigate, useParams, useSearch } from '@tanstack/react-router';
import { useApi } from '../../app/api-query.ts';
import { Copyable } from '../../ui/controls/copyable.tsx';
import { Page } from '../../ui/layout/page.tsx';
import { Skeleton } from '../../ui/layout/skeleton.tsx';
import { Tabs } from '../../ui/layout/tabs.tsx';
import { Badge, Status } from '../../ui/values/badge.tsx';
import { ErrorNote } from '../../ui/values/error-note.tsx';
import { Identicon } from '../../ui/values/identicon.tsx';
import { linkClass } from '../../ui/values/link.tsx';
import { AgentStats } from './agent-stats.tsx';
import { CallsTab } from './calls/calls-tab.tsx';
import { FailuresTab } from './calls/failures-tab.tsx';
import { EarningsTab } from './earnings-tab.tsx';
import { NotMine } from './not-mine.tsx';
import { OfflineNote } from './offline-note.tsx';
import { SettingsTab } from './settings-tab.tsx';
import { TestTab } from './test-tab.tsx';
import { VerificationTab } from './verification-tab.tsx';

/** An agent of the account: how it stands, its verification, its earnings, and all that its owner may do with it. */
export function AgentView() {
  const { agentId } = useParams({ from: '/shell/agents/$agentId' });
  const { data, error, refetch } = useApi('listOwnAgents', { query: { agentId } });
  const agent = data?.agents[0];
  return (
    <Page
      title={agent?.name ?? 'Agent'}
      up={
        <Link to="/agents" className={linkClass}>
          My agents
        </Link>
      }
      aside={
        <>
          {agent && <Marks agent={agent} />}
          <Copyable label="agent id" text={agentId} />
        </>
      }
    >
      {agent && <AgentBody agent={agent} />}
      {data && !agent && <NotMine agentId={agentId} />}
      {!data &&
        (error ? <ErrorNote error={error} onRetry={() => void refetch()} /> : <Skeleton className="h-64 w-full" />)}
    </Page>
  );
}

const Marks = ({ agent: { id, status, frozen, verified } }: { agent: OwnAgent }) => (
  <>
    <Identicon id={id} className="size-6" />
    <Status value={status} />
    {status !== 'pending_verification' && (
      <Badge tone={verified ? 'good' : 'warn'}>{verified ? 'verified' : 'not verified'}</Badge>
    )}
    {frozen && <Badge tone="bad">frozen</Badge>}
  </>
);

const tabIds = ['earnings', 'calls', 'failures', 'test', 'verification', 'settings'] as const;
type TabId = (typeof tabIds)[number];

const tabViews: Readonly<Record<TabId, { label: string; view: (props: { agent: OwnAgent }) => React.ReactNode }>> = {
  verification: { label: 'Verification', view: VerificationTab },
  test: { label: 'Test', view: TestTab },
  earnings: { label: 'Earnings', view: EarningsTab },
  calls: { label: 'Calls', view: CallsTab },
  failures: { label: 'Failures', view: FailuresTab },
  settings: { label: 'Settings', view: SettingsTab },
};

/** Verification comes first until the endpoint is verified: nothing can be earned before. */
const tabsOf = ({ verification }: OwnAgent): readonly [TabId, ...TabId[]] =>
  verification.endpointProvenAt === null ? ['verification', ...tabIds.filter((id) => id !== 'verification')] : tabIds;

function AgentBody({ agent }: { agent: OwnAgent }) {
  const { tab } = useSearch({ from: '/shell/agents/$agentId' });
  const navigate = useNavigate({ from: '/agents/$agentId' });
  const ids = tabsOf(agent);
  const active = ids.find((id) => id === tab) ?? ids[0];
  return (
    <>
      {agent.frozen && (
        <ErrorNote
          title="Frozen"
          error="Its token moved to another wallet. No funds leave its treasury until the new owner verifies that wallet."
        />
      )}
      {agent.status === 'online' && <ErrorNote title="The last check of its endpoint failed" error={agent.fault} />}
      {agent.status === 'offline' && <OfflineNote agent={agent} />}
      <AgentStats agent={agent} />
      <Tabs
        active={active}
        onChange={(id) => void navigate({ search: { tab: id }, replace: true })}
        tabs={ids.map((id) => {
          const { label, view: View } = tabViews[id];
          return { id, label, content: id === active && <View agent={agent} /> };
        })}
      />
    </>
  );
}
