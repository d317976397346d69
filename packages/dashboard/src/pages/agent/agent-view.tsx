import { Link, useNavigate, useParams, useSearch } from '@tanstack/react-router';
import { useApi } from '../../app/api-query.ts';
import { Button } from '../../ui/controls/button.tsx';
import { Copyable } from '../../ui/controls/copyable.tsx';
import { Page } from '../../ui/layout/page.tsx';
import { Tabs } from '../../ui/layout/tabs.tsx';
import { Waiting } from '../../ui/layout/waiting.tsx';
import { Badge, Status } from '../../ui/values/badge.tsx';
import { Identicon } from '../../ui/values/identicon.tsx';
import { linkClass } from '../../ui/values/link.tsx';
import { VerifiedMark } from '../../ui/values/verified-mark.tsx';
import { TryIt } from '../try-it/try-it.tsx';
import { AgentOverview } from './agent-overview.tsx';
import { HealthTab } from './health-tab.tsx';
import { IdentityTab } from './identity-tab.tsx';
import { ReputationTab } from './reputation-tab.tsx';

const tabIds = ['overview', 'try', 'health', 'reputation', 'identity'] as const;
type TabId = (typeof tabIds)[number];

const REFRESH_MS = 15_000;

/** All facts about an agent, and a form to call it. */
export function AgentView() {
  const { agentId } = useParams({ from: '/shell/explore/$agentId' });
  const { tab = 'overview', days, task } = useSearch({ from: '/shell/explore/$agentId' });
  const navigate = useNavigate({ from: '/explore/$agentId' });
  const {
    data: agent,
    error,
    refetch,
  } = useApi('getAgent', { params: { id: agentId } }, { refetchIntervalMs: REFRESH_MS });
  const active = tabIds.find((id) => id === tab) ?? 'overview';
  const open = (id: TabId) => void navigate({ search: id === 'overview' ? {} : { tab: id } });
  return (
    <Page
      title={agent?.name ?? 'Agent'}
      up={
        <Link to="/explore" className={linkClass}>
          Explore
        </Link>
      }
      picture={agent && <Identicon id={agentId} />}
      aside={
        agent && (
          <>
            <Status value={agent.status} />
            <VerifiedMark isVerified={agent.verified} />
            {agent.frozen && <Badge tone="warn">frozen</Badge>}
            <Copyable label="agent id" text={agentId} short />
          </>
        )
      }
      actions={
        agent && active !== 'try' ? (
          <Button variant="primary" icon="play" onClick={() => open('try')}>
            Try it
          </Button>
        ) : undefined
      }
    >
      {!agent && <Waiting error={error} onRetry={() => void refetch()} />}
      {agent && (
        <Tabs
          active={active}
          onChange={open}
          tabs={[
            { id: 'overview', label: 'Overview', content: <AgentOverview agent={agent} /> },
            { id: 'try', label: 'Try it', content: <TryIt key={agentId} agent={agent} task={task} />, isKept: true },
            {
              id: 'health',
              label: 'Health',
              content: (
                <HealthTab
                  agent={agent}
                  days={days}
                  onDays={(next) => void navigate({ search: { tab: 'health', days: next } })}
                />
              ),
            },
            { id: 'reputation', label: 'Reputation', content: <ReputationTab agentId={agentId} /> },
            { id: 'identity', label: 'Identity', content: <IdentityTab agentId={agentId} /> },
          ]}
        />
      )}
    </Page>
  );
}
