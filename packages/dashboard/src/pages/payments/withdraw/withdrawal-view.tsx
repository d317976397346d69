import type { Withdrawal } from '@agent-network/contracts/payments/payments';
import { Link, useParams } from '@tanstack/react-router';
import { useApi } from '../../../app/api-query.ts';
import { ChainLink } from '../../../app/chain-link.tsx';
import { Copyable } from '../../../ui/controls/copyable.tsx';
import { Card } from '../../../ui/layout/card.tsx';
import { Detail, Details } from '../../../ui/layout/details.tsx';
import { Page } from '../../../ui/layout/page.tsx';
import { Waiting } from '../../../ui/layout/waiting.tsx';
import { Status } from '../../../ui/values/badge.tsx';
import { linkClass } from '../../../ui/values/link.tsx';
import { Money } from '../../../ui/values/money.tsx';
import { ExactTime } from '../../../ui/values/time-ago.tsx';

/** Polling interval while the withdrawal is pending, since there is no event for its failure. */
const PENDING_MS = 1500;

/** A withdrawal, live until the chain has it. */
export function WithdrawalView() {
  const { withdrawalId } = useParams({ from: '/shell/payments/withdrawals/$withdrawalId' });
  const call = { params: { withdrawalId } };
  const { data, error, refetch } = useApi('getWithdrawal', call);
  const isPending = data?.status === 'pending';
  useApi('getWithdrawal', call, { enabled: isPending, refetchIntervalMs: PENDING_MS });
  return (
    <Page
      title="Withdrawal"
      up={
        <Link to="/payments" search={{ tab: 'history', type: 'withdrawal' }} className={linkClass}>
          Withdrawals
        </Link>
      }
      aside={
        <>
          {data && <Status value={data.status} />}
          <Copyable label="withdrawal id" text={withdrawalId} />
        </>
      }
    >
      {!data && <Waiting error={error} onRetry={() => void refetch()} height="h-48" />}
      {data && <WithdrawalFacts withdrawal={data} />}
    </Page>
  );
}

const progress: Readonly<Record<Withdrawal['status'], string>> = {
  pending: 'It has left the treasury and is on its way to the wallet. This page updates automatically.',
  confirmed: 'Completed: the USDC is in the wallet.',
  failed: 'It was not sent. The money is back in the treasury.',
};

const WithdrawalFacts = ({ withdrawal }: { withdrawal: Withdrawal }) => (
  <Card>
    <p role="status" className="mb-3 font-medium">
      {progress[withdrawal.status]}
    </p>
    <Details>
      <Detail label="Amount">
        <Money amount={withdrawal.amount} />
      </Detail>
      <Detail label="To">
        <ChainLink kind="address" id={withdrawal.to} label="wallet" />
      </Detail>
      <Detail label="From">
        <Link
          to="/payments/treasuries/$treasuryId"
          params={{ treasuryId: withdrawal.treasuryId }}
          className={`${linkClass} break-all`}
        >
          {withdrawal.treasuryId}
        </Link>
      </Detail>
      <Detail label="Transaction">
        {withdrawal.transactionHash === null ? (
          <span className="text-muted">not sent yet</span>
        ) : (
          <ChainLink kind="tx" id={withdrawal.transactionHash} />
        )}
      </Detail>
      <Detail label="Requested">
        <ExactTime at={withdrawal.createdAt} />
      </Detail>
    </Details>
  </Card>
);
