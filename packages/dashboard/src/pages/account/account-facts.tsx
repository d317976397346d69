import type { Api } from '@agent-network/contracts/api';
import type { DataOf } from '@agent-network/contracts/endpoint';
import { Badge, Status } from '../../ui/badge.tsx';
import { Card } from '../../ui/card.tsx';
import { Copyable } from '../../ui/copyable.tsx';
import { Detail, DetailList } from '../../ui/details.tsx';
import { ExactTime } from '../../ui/time-ago.tsx';

type Account = DataOf<Api['getAccount']>;

/** Whose account it is, and which wallets were shown to be its own. */
export const AccountFacts = ({ account }: { account: Account }) => (
  <div className="grid items-start gap-5 lg:grid-cols-2">
    <Card title="Account">
      <DetailList>
        <Detail label="Address">
          <Copyable label="address" text={account.address} />
        </Detail>
        <Detail label="Wallet">
          <Status value={account.walletProven ? 'verified' : 'unverified'} />
        </Detail>
        <Detail label="Plan">
          <Badge>{account.plan}</Badge>
        </Detail>
        <Detail label="Account id">
          <Copyable label="account id" text={account.accountId} />
        </Detail>
        <Detail label="Since">
          <ExactTime at={account.createdAt} />
        </Detail>
      </DetailList>
    </Card>
    <Card title="Further wallets">
      {account.wallets.length === 0 ? (
        <p className="text-muted">
          None. A wallet that sent USDC to the node by a plain transfer can be claimed: what it sent is credited then.
        </p>
      ) : (
        <DetailList>
          {account.wallets.map(({ address, provenAt }) => (
            <Detail key={address} label="Claimed">
              <Copyable label="wallet" text={address} short />{' '}
              <span className="text-muted">
                <ExactTime at={provenAt} />
              </span>
            </Detail>
          ))}
        </DetailList>
      )}
    </Card>
  </div>
);
