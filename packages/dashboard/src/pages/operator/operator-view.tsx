import type { OperatorStatus } from '@agent-network/contracts/network/operator';
import { useNavigate, useSearch } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { useApi } from '../../app/api-query.ts';
import { useSession } from '../../app/session.ts';
import { Card } from '../../ui/layout/card.tsx';
import { EmptyState } from '../../ui/layout/empty-state.tsx';
import { Page } from '../../ui/layout/page.tsx';
import { Skeleton } from '../../ui/layout/skeleton.tsx';
import { Tabs } from '../../ui/layout/tabs.tsx';
import { ErrorNote } from '../../ui/values/error-note.tsx';
import { AccountsTab } from './accounts-tab.tsx';
import { ChannelClaims } from './channel-claims.tsx';
import { HealthTab } from './health-tab.tsx';
import { InvocationLookup } from './invocation-lookup.tsx';
import { MoneyTab } from './money-tab.tsx';
import { SettingsTab } from './settings-tab.tsx';

/** The node for its operator. */
export function OperatorView() {
  const isOperator = useSession().scopes.includes('operator');
  return (
    <Page title="Operator" description="How this node is doing, and what its accounts do.">
      {isOperator ? (
        <OperatorTabs />
      ) : (
        <Card>
          <EmptyState title="For operators only">
            This account has no active key with the scope <code>operator</code>.
          </EmptyState>
        </Card>
      )}
    </Page>
  );
}

const tabs = [
  { id: 'health', label: 'Health', content: <WithStatus>{(status) => <HealthTab status={status} />}</WithStatus> },
  { id: 'money', label: 'Money', content: <WithStatus>{(status) => <MoneyTab status={status} />}</WithStatus> },
  { id: 'accounts', label: 'Accounts', content: <AccountsTab /> },
  { id: 'calls', label: 'Calls', content: <InvocationLookup /> },
  { id: 'channels', label: 'Channels', content: <ChannelClaims /> },
  { id: 'settings', label: 'Settings', content: <SettingsTab /> },
] as const;

type TabId = (typeof tabs)[number]['id'];

function OperatorTabs() {
  const { tab, invocation } = useSearch({ from: '/shell/operator' });
  const navigate = useNavigate({ from: '/operator' });
  const active = tabs.find(({ id }) => id === tab)?.id ?? (invocation ? 'calls' : 'health');
  const open = (id: TabId) => void navigate({ search: { tab: id } });
  return (
    <Tabs
      active={active}
      onChange={open}
      tabs={tabs.map(({ content, ...each }) => ({ ...each, content: each.id === active && content }))}
    />
  );
}

const LOOK_MS = 5000;

function WithStatus({ children }: { children: (status: OperatorStatus) => ReactNode }) {
  const { data, error, refetch } = useApi('getOperatorStatus', {}, { refetchIntervalMs: LOOK_MS });
  return (
    <>
      {error && <ErrorNote title="Could not load the status" error={error} onRetry={() => void refetch()} />}
      {!data && !error && <Skeleton className="h-64 w-full" />}
      {data && children(data)}
    </>
  );
}
