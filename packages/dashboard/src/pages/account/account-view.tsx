import type { Api } from '@agent-network/contracts/api';
import type { DataOf } from '@agent-network/contracts/endpoint';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { useApi } from '../../app/api-query.ts';
import { Copyable } from '../../ui/controls/copyable.tsx';
import { Card } from '../../ui/layout/card.tsx';
import { FactRow } from '../../ui/layout/fact-row.tsx';
import { Page } from '../../ui/layout/page.tsx';
import { Tabs } from '../../ui/layout/tabs.tsx';
import { Waiting } from '../../ui/layout/waiting.tsx';
import { Badge, Status } from '../../ui/values/badge.tsx';
import { ExactTime } from '../../ui/values/time-ago.tsx';
import { AuditCard } from './audit-card.tsx';
import { SessionsCard } from './sessions-card.tsx';

/** The account: its owner, its sessions and its audit log. */
export function AccountView() {
  const { data, error, refetch } = useApi('getAccount');
  const { tab } = useSearch({ from: '/shell/account' });
  const navigate = useNavigate({ from: '/account' });
  return (
    <Page title="Account">
      {!data && <Waiting error={error} onRetry={() => void refetch()} height="h-48" />}
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

type Account = DataOf<Api['getAccount']>;

/** The account and its proven wallets. */
const AccountFacts = ({ account }: { account: Account }) => (
  <div className="grid items-start gap-5 lg:grid-cols-2">
    <Card title="Account">
      <dl>
        <FactRow label="Address">
          <Copyable label="address" text={account.address} />
        </FactRow>
        <FactRow label="Wallet">
          <Status value={account.walletProven ? 'verified' : 'unverified'} />
        </FactRow>
        <FactRow label="Plan">
          <Badge>{account.plan}</Badge>
        </FactRow>
        {account.suspension && (
          <FactRow label="Suspended">
            <bdi className="wrap-anywhere whitespace-normal">{account.suspension.reason}</bdi>
          </FactRow>
        )}
        <FactRow label="Account ID">
          <Copyable label="account id" text={account.accountId} />
        </FactRow>
        <FactRow label="Created">
          <ExactTime at={account.createdAt} />
        </FactRow>
      </dl>
    </Card>
    <Card title="Other wallets">
      {account.wallets.length === 0 ? (
        <p className="text-muted">
          None. If you sent USDC to the node from another wallet by a plain transfer, claim that wallet to have it
          credited.
        </p>
      ) : (
        <dl>
          {account.wallets.map(({ address, provenAt }) => (
            <FactRow key={address} label="Claimed">
              <Copyable label="wallet" text={address} short />{' '}
              <span className="text-muted">
                <ExactTime at={provenAt} />
              </span>
            </FactRow>
          ))}
        </dl>
      )}
    </Card>
  </div>
);
