import { useState } from 'react';
import { Tabs } from '../../ui/layout/tabs.tsx';
import { Dialog } from '../../ui/overlays/dialog.tsx';
import { FundByTransfer } from './fund-by-transfer.tsx';
import { FundByWalletForm } from './fund-by-wallet-form.tsx';
import type { NamedTreasury } from './treasury.ts';

interface FundDialogProps {
  readonly treasuries: readonly NamedTreasury[];
  readonly treasuryId: string | undefined;
  readonly onClose: () => void;
}

type Way = 'wallet' | 'transfer';

/** The two ways of money into a treasury: a payment that the wallet signs now, or a transfer from anywhere. */
export function FundDialog({ treasuries, treasuryId, onClose }: FundDialogProps) {
  const [way, setWay] = useState<Way>('wallet');
  return (
    <Dialog isOpen onClose={onClose} title="Add funds">
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
