import { useState } from 'react';
import { useApi } from '../../app/api-query.ts';
import { ChainLink } from '../../app/chain-link.tsx';
import { networkName } from '../../app/network-name.ts';
import { useSession, useSessionInfo } from '../../app/session.ts';
import { Detail, Details } from '../../ui/layout/details.tsx';
import { Tabs } from '../../ui/layout/tabs.tsx';
import { Waiting } from '../../ui/layout/waiting.tsx';
import { Dialog } from '../../ui/overlays/dialog.tsx';
import { Note, Warning } from '../../ui/values/note.tsx';
import { AddTestFunds } from './add-test-funds.tsx';
import { ClaimWallet } from './claim-wallet.tsx';
import { FundByWalletForm } from './fund-by-wallet-form.tsx';
import type { NamedTreasury } from './treasury.ts';

interface FundDialogProps {
  readonly treasuries: readonly NamedTreasury[];
  readonly treasuryId: string | undefined;
  readonly onClose: () => void;
}

type Way = 'wallet' | 'transfer';

/** The ways of money into a treasury: test money, a payment that the wallet signs now, or a transfer from anywhere. */
export function FundDialog({ treasuries, treasuryId, onClose }: FundDialogProps) {
  const [way, setWay] = useState<Way>('wallet');
  return (
    <Dialog isOpen onClose={onClose} title="Add funds">
      <TestMoney onAdded={onClose} />
      <Tabs<Way>
        active={way}
        onChange={setWay}
        tabs={[
          {
            id: 'wallet',
            label: 'From a browser wallet',
            content: <FundByWalletForm treasuries={treasuries} treasuryId={treasuryId} onClose={onClose} />,
            // It has the payment whose outcome is not known.
            isKept: true,
          },
          { id: 'transfer', label: 'By transfer', content: <FundByTransfer /> },
        ]}
      />
    </Dialog>
  );
}

/** The way that needs no wallet; nothing on a node that gives no test money. */
function TestMoney({ onAdded }: { onAdded: () => void }) {
  const { testFunds } = useSessionInfo();
  if (testFunds === null) return null;
  return (
    <div className="mb-4">
      <Note title="Test money" actions={<AddTestFunds onAdded={onAdded} />}>
        The node adds it to the account's treasury. You need no wallet.
      </Note>
    </div>
  );
}

/** Address for USDC from any wallet or exchange, and the steps to claim it for the account. */
function FundByTransfer() {
  const info = useSessionInfo();
  const { chainId, usdc } = info;
  const { address } = useSession();
  const { data, error, refetch } = useApi('getReserves');
  if (!data) return <Waiting error={error} onRetry={() => void refetch()} height="h-32" />;
  return (
    <div className="space-y-4">
      <p>Send USDC to the node's wallet. It is credited to the account's treasury once confirmed on chain.</p>
      <div className="*:grid-cols-1 *:sm:grid-cols-1">
        <Details>
          <Detail label="Network">{`${networkName(info)} (chain id ${chainId})`}</Detail>
          <Detail label="Send to">
            <ChainLink kind="address" id={data.wallet} label="address of the node" short={false} />
          </Detail>
          <Detail label="Token">
            <ChainLink kind="address" id={usdc} label="address of the token" short={false} />
          </Detail>
          <Detail label="From">
            <ChainLink kind="address" id={address} label="wallet of the account" short={false} />
          </Detail>
        </Details>
      </div>
      <Warning>
        Send only this token, on this network. USDC sent from another wallet is held until you claim it below.
      </Warning>
      <ClaimWallet />
    </div>
  );
}
