import { useNavigate, useSearch } from '@tanstack/react-router';
import { useApi } from '../../app/api-query.ts';
import { Page } from '../../ui/layout/page.tsx';
import { Skeleton } from '../../ui/layout/skeleton.tsx';
import { Tabs } from '../../ui/layout/tabs.tsx';
import { ErrorNote } from '../../ui/values/error-note.tsx';
import { AccountFacts } from './account-facts.tsx';
import { AuditCard } from './audit-card.tsx';
import { SessionsCard } from './sessions-card.tsx';

/** The account: whose it is, who is signed in, and what was changed in its name. */
export function AccountView() {
  const { data, error, refetch } = useApi('getAccount');
  const { tab } = useSearch({ from: '/shell/account' });
  const navigate = useNavigate({ from: '/account' });
  return (
    <Page title="Account">
      {!data && error && <ErrorNote error={error} onRetry={() => void refetch()} />}
      {!data && !error && <Skeleton className="h-48 w-full" />}
      {data && <AccountFacts account={data} />}
      <Tabs
        active={tab === 'audit' ? 'audit' : 'sessions'}
        onChange={(id) => void navigate({ search: id === 'audit' ? { tab: id } : {} })}
        tabs={[
          { id: 'sessions', label: 'Sessions', content: <SessionsCard /> },
          { id: 'audit', label: 'Audit log', content: <AuditCard /> },
        ]}
      />
    </Page>
  );
}
