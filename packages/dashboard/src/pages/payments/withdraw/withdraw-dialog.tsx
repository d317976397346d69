import { paymentEndpoints } from '@agent-network/contracts/payments/payments';
import { useNavigate } from '@tanstack/react-router';
import { useSession } from '../../../app/session.ts';
import { useForm } from '../../../forms/use-form.ts';
import { Button } from '../../../ui/controls/button.tsx';
import { Actions, Dialog } from '../../../ui/overlays/dialog.tsx';
import { ErrorNote } from '../../../ui/values/error-note.tsx';
import { useWalletField } from '../../../wallet/wallet-field.tsx';
import type { NamedTreasury } from '../treasury.ts';
import { useWithdrawal } from './use-withdrawal.ts';
import { WithdrawFields } from './withdraw-fields.tsx';
import { type WithdrawalValues, withdrawalBody } from './withdrawal-body.ts';

interface WithdrawDialogProps {
  readonly treasuries: readonly NamedTreasury[];
  readonly treasuryId: string | undefined;
  readonly onClose: () => void;
}

/** Sends USDC from a treasury to a wallet, signed by the wallet of the account for just that. */
export function WithdrawDialog({ treasuries, treasuryId, onClose }: WithdrawDialogProps) {
  const { isLocal } = useSession();
  const navigate = useNavigate();
  const { wallet, field } = useWalletField();
  const { withdraw, isUncertain } = useWithdrawal();
  const initial: WithdrawalValues = {
    amount: '',
    treasuryId: treasuryId ?? treasuries[0]?.treasuryId ?? '',
    to: '',
    isOfFees: false,
  };
  const form = useForm({
    initial,
    schema: paymentEndpoints.requestWithdrawal.body,
    toBody: withdrawalBody,
    async onSubmit(wish) {
      const { withdrawalId } = await withdraw.mutateAsync({ wish, wallet });
      onClose();
      await navigate({ to: '/payments/withdrawals/$withdrawalId', params: { withdrawalId } });
    },
  });
  return (
    <Dialog
      isOpen
      onClose={onClose}
      title="Withdraw"
      description={
        isLocal
          ? "This is the local account's test money, so the node signs for you."
          : 'Your wallet signs a message with the amount, source and recipient. It is valid for this withdrawal only.'
      }
    >
      <form onSubmit={form.submit} noValidate className="space-y-4">
        <fieldset disabled={form.isBusy || isUncertain} className="space-y-4">
          <WithdrawFields form={form} treasuries={treasuries} />
          {!isLocal && field}
        </fieldset>
        <ErrorNote error={form.failure} />
        {isUncertain && (
          <p className="rounded-md bg-warn-soft px-3 py-2 text-warn">
            It isn't known whether this went through. Retrying can't withdraw twice.
          </p>
        )}
        <Actions>
          <Button onClick={onClose}>{isUncertain ? 'Close' : 'Cancel'}</Button>
          <Button type="submit" variant="primary" isBusy={form.isBusy} disabled={!isLocal && !wallet}>
            {isUncertain ? 'Retry' : isLocal ? 'Withdraw' : 'Sign and withdraw'}
          </Button>
        </Actions>
      </form>
    </Dialog>
  );
}
