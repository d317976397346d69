import type { OwnAgent } from '@agent-network/contracts/invocations/figures';
import { Link, useNavigate, useParams, useSearch } from '@tanstack/react-router';
import { useApi } from '../../app/api-query.ts';
import { useSession } from '../../app/session.ts';
import { Stat, Stats } from '../../ui/chart/stat.tsx';
import { Copyable } from '../../ui/controls/copyable.tsx';
import { Card } from '../../ui/layout/card.tsx';
import { EmptyState } from '../../ui/layout/empty-state.tsx';
import { Page } from '../../ui/layout/page.tsx';
import { Tabs } from '../../ui/layout/tabs.tsx';
import { Waiting } from '../../ui/layout/waiting.tsx';
import { Badge, Status } from '../../ui/values/badge.tsx';
import { ErrorNote } from '../../ui/values/error-note.tsx';
import { Identicon } from '../../ui/values/identicon.tsx';
import { linkClass } from '../../ui/values/link.tsx';
import { groupDigits, Money } from '../../ui/values/money.tsx';
import { Note } from '../../ui/values/note.tsx';
import { TimeAgo } from '../../ui/values/time-ago.tsx';
import { VerifiedMark } from '../../ui/values/verified-mark.tsx';
import { CallsTab } from './calls/calls-tab.tsx';
import { FailuresTab } from './calls/failures-tab.tsx';
import { EarningsTab } from './earnings-tab.tsx';
import { ProveWallet } from './prove-wallet.tsx';
import { SettingsTab } from './settings-tab.tsx';
import { TestTab } from './test-tab.tsx';
import { VerificationTab } from './verification-tab.tsx';

/** An agent of the account: its status, its verification, its earnings, and all actions of its owner. */
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
      picture={agent && <Identicon id={agentId} />}
      aside={
        <>
          {agent && <Marks agent={agent} />}
          <Copyable label="agent id" text={agentId} short />
        </>
      }
    >
      {agent && <AgentBody agent={agent} />}
      {data && !agent && <NotMine agentId={agentId} />}
      {!data && <Waiting error={error} onRetry={() => void refetch()} />}
    </Page>
  );
}

const Marks = ({ agent: { status, frozen, verified } }: { agent: OwnAgent }) => (
  <>
    <Status value={status} />
    {status !== 'pending_verification' && <VerifiedMark isVerified={verified} />}
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

/** An agent's balance, earnings and success rate. */
const AgentStats = ({ agent: { balance, earned, calls7, failures7, reputation, isNew } }: { agent: OwnAgent }) => (
  <Stats>
    <Stat
      label="Balance"
      value={<Money amount={balance.available} />}
      hint={Number(balance.held) > 0 ? `${groupDigits(balance.held)} held` : undefined}
    />
    <Stat label="Earned today" value={<Money amount={earned.today} />} />
    <Stat label="Earned in 7 days" value={<Money amount={earned.days7} />} />
    <Stat label="Earned in 30 days" value={<Money amount={earned.days30} />} />
    <Stat label="Calls in 7 days" value={groupDigits(calls7)} hint={`${groupDigits(failures7)} failed`} />
    <Stat
      label="Reputation"
      value={isNew ? 'New' : Math.round(reputation)}
      hint={isNew ? 'few customers yet' : 'out of 1,000'}
    />
  </Stats>
);

/** An agent of another account, which the holder of its token may take over. */
function NotMine({ agentId }: { agentId: string }) {
  const { address } = useSession();
  const { data, error, refetch } = useApi('getIdentity', { params: { id: agentId } });
  if (!data) return <Waiting error={error} onRetry={() => void refetch()} height="h-40" />;
  if (data.owner.toLowerCase() === address.toLowerCase() || data.onChain?.owner.toLowerCase() === address.toLowerCase())
    return (
      <Card title="You now hold this agent's token">
        <p className="mb-3">
          Take over <bdi className="font-medium wrap-anywhere">{data.name}</bdi> by verifying your wallet. Its treasury
          and earnings become yours.
        </p>
        <ProveWallet agentId={agentId} owner={address} />
      </Card>
    );
  return (
    <EmptyState title="This agent isn't yours">
      <Link to="/agents" className={linkClass}>
        Go to your agents
      </Link>
    </EmptyState>
  );
}

/** The reason that an agent does not take calls, with its remedy. */
function OfflineNote({ agent: { offline, status } }: { agent: Pick<OwnAgent, 'offline' | 'status'> }) {
  if (!offline) return null;
  const { reason, at, status: answer, body, advice } = offline;
  const title = status === 'pending_verification' ? 'Not verified yet' : 'Offline';
  return (
    <div role="alert">
      <Note tone="warn" title={`${title}: ${reason}`}>
        <p>{advice}</p>
        {body !== null && (
          <p className="mt-1 font-mono text-[13px] wrap-anywhere">
            {answer} <bdi>{body}</bdi>
          </p>
        )}
        {at !== null && (
          <p className="mt-1 text-[13px] text-muted">
            Checked <TimeAgo at={at} />
          </p>
        )}
      </Note>
    </div>
  );
}
