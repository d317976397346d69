import type { Balance } from '@agent-network/contracts/payments/payments';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { useState } from 'react';
import { Stat, Stats } from '../../ui/chart/stat.tsx';
import { Button } from '../../ui/controls/button.tsx';
import { Page } from '../../ui/layout/page.tsx';
import { Tabs } from '../../ui/layout/tabs.tsx';
import { Money } from '../../ui/values/money.tsx';
import { AddTestFunds } from './add-test-funds.tsx';
import { AlertLine, LowBalance } from './balance-alert.tsx';
import { ChannelList } from './channels/channel-list.tsx';
import { EarningsHint } from './collect-earnings.tsx';
import { FundDialog } from './fund-dialog.tsx';
import { OtherBalances, OtherTreasuries } from './other-networks.tsx';
import { PaymentList } from './payment-list.tsx';
import { ReservesPanel } from './reserves-panel.tsx';
import { boundText } from './spendable.ts';
import { NOT_OPEN } from './treasury.ts';
import { TreasuryList } from './treasury-list.tsx';
import { useTreasuries } from './use-treasuries.ts';
import { WithdrawDialog } from './withdraw/withdraw-dialog.tsx';

const tabIds = ['treasuries', 'channels', 'history', 'reserves'] as const;
type TabId = (typeof tabIds)[number];

/** The open action and its treasury; undefined: the first treasury. */
type Doing = { readonly what: 'fund' | 'withdraw'; readonly treasuryId?: string } | null;

/** The open action: chosen on the page, or asked for by the address (`do`). */
function useDoing() {
  const { do: asked } = useSearch({ from: '/shell/payments' });
  const navigate = useNavigate({ from: '/payments' });
  const [chosen, setDoing] = useState<Doing>(null);
  return {
    doing: chosen ?? (asked === 'fund' || asked === 'withdraw' ? { what: asked } : null),
    setDoing,
    close() {
      setDoing(null);
      if (asked) void navigate({ search: {}, replace: true });
    },
  };
}

/** The money of the account: its treasuries, its movements, and the reserves of the node. */
export function PaymentsView() {
  const { tab } = useSearch({ from: '/shell/payments' });
  const navigate = useNavigate({ from: '/payments' });
  const { doing, setDoing, close } = useDoing();
  const { balance, treasuries, error, refetch } = useTreasuries();
  const active = tabIds.find((id) => id === tab) ?? 'treasuries';
  const show = (id: TabId) => void navigate({ search: id === 'treasuries' ? {} : { tab: id } });
  return (
    <Page
      title="Payments"
      description="Calls are paid from treasuries, and agents' earnings go to theirs. Amounts are in USDC."
      actions={
        <>
          <Button icon="arrowUp" onClick={() => setDoing({ what: 'withdraw' })} disabled={!treasuries?.length}>
            Withdraw
          </Button>
          <Button variant="primary" icon="plus" onClick={() => setDoing({ what: 'fund' })} disabled={!treasuries}>
            Add funds
          </Button>
        </>
      }
    >
      <BalanceFigures balance={balance} />
      <OtherBalances balance={balance} />
      <Tabs
        active={active}
        onChange={show}
        tabs={[
          {
            id: 'treasuries',
            label: 'Treasuries',
            content: (
              <div className="space-y-5">
                <TreasuryList
                  treasuries={treasuries}
                  error={error}
                  onRetry={refetch}
                  onFund={(treasuryId) => setDoing({ what: 'fund', ...(treasuryId !== NOT_OPEN && { treasuryId }) })}
                  onWithdraw={(treasuryId) => setDoing({ what: 'withdraw', treasuryId })}
                />
                <OtherTreasuries balance={balance} />
              </div>
            ),
          },
          { id: 'channels', label: 'Channels', content: <ChannelList /> },
          { id: 'history', label: 'History', content: <PaymentList treasuries={treasuries} /> },
          { id: 'reserves', label: 'Reserves', content: <ReservesPanel /> },
        ]}
      />
      {doing?.what === 'fund' && treasuries && (
        <FundDialog treasuries={treasuries} treasuryId={doing.treasuryId} onClose={close} />
      )}
      {doing?.what === 'withdraw' && treasuries && (
        <WithdrawDialog treasuries={treasuries} treasuryId={doing.treasuryId} onClose={close} />
      )}
    </Page>
  );
}

/** The figures of the account's money, and the alert about them. */
const BalanceFigures = ({ balance }: { balance: Balance | undefined }) => (
  <>
    <LowBalance balance={balance} actions={<AddTestFunds />} />
    <Stats>
      <Stat
        label="You can spend"
        value={<Money amount={balance?.spendable.total} />}
        hint={balance && boundText(balance.spendable)}
      />
      <Stat
        label="Earnings to collect"
        value={<Money amount={balance?.earnings} />}
        hint={<EarningsHint balance={balance} />}
      />
      <Stat label="Held" value={<Money amount={balance?.held} />} hint="for running calls" />
      <Stat label="Pending" value={<Money amount={balance?.pending} />} hint="deposits in progress" />
    </Stats>
    <AlertLine balance={balance} />
  </>
);
