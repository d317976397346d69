import type { Api } from '@agent-network/contracts/api';
import type { DataOf } from '@agent-network/contracts/endpoint';
import { Copyable } from '../../ui/controls/copyable.tsx';
import { Card } from '../../ui/layout/card.tsx';
import { FactRow } from '../../ui/layout/fact-row.tsx';
import { Badge, Status } from '../../ui/values/badge.tsx';
import { ExactTime } from '../../ui/values/time-ago.tsx';

type Account = DataOf<Api['getAccount']>;

/** The account and its proven wallets. */
export const AccountFacts = ({ account }: { account: Account }) => (
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
        <FactRow label="Account id">
          <Copyable label="account id" text={account.accountId} />
        </FactRow>
        <FactRow label="Since">
          <ExactTime at={account.createdAt} />
        </FactRow>
      </dl>
    </Card>
    <Card title="Further wallets">
      {account.wallets.length === 0 ? (
        <p className="text-muted">
          None. A wallet that sent USDC to the node by a plain transfer can be claimed: what it sent is credited then.
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
