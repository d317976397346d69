import { paymentEndpoints } from '@agent-network/contracts/payments/payments';
import { useNavigate } from '@tanstack/react-router';
import { useSession } from '../../../app/session.ts';
import { useForm } from '../../../forms/use-form.ts';
import { Button } from '../../../ui/controls/button.tsx';
import { Checkbox } from '../../../ui/controls/checkbox.tsx';
import { Field } from '../../../ui/controls/field.tsx';
import { Select } from '../../../ui/controls/select.tsx';
import { NumberInput, TextInput } from '../../../ui/controls/text-input.tsx';
import { Actions, Dialog } from '../../../ui/overlays/dialog.tsx';
import { ErrorNote } from '../../../ui/values/error-note.tsx';
import { useWalletField } from '../../../wallet/wallet-field.tsx';
import { type NamedTreasury, treasuryOptions } from '../treasury.ts';
import { useWithdrawal } from './use-withdrawal.ts';
import { type WithdrawalValues, withdrawalBody } from './withdrawal-body.ts';

interface WithdrawDialogProps {
  readonly treasuries: readonly NamedTreasury[];
  readonly treasuryId: string | undefined;
  readonly onClose: () => void;
}

/** Sends USDC from a treasury to a wallet, signed by the wallet of the account for just that. */
export function WithdrawDialog({ treasuries, treasuryId, onClose }: WithdrawDialogProps) {
  const { address, isLocal, scopes } = useSession();
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
  const { values, set, error } = form;
  const available = treasuries.find((each) => each.treasuryId === values.treasuryId)?.available;
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
          <Field label="From" error={error('treasuryId')}>
            <Select
              value={values.treasuryId}
              onChange={(id) => set('treasuryId', id)}
              options={treasuryOptions(treasuries)}
            />
          </Field>
          {scopes.includes('operator') && (
            <Checkbox
              label="Withdraw the node's fees"
              hint="They pass through this treasury and appear in its statement."
              isChecked={values.isOfFees}
              onChange={(isOfFees) => set('isOfFees', isOfFees)}
            />
          )}
          <Field label="Amount" isRequired error={error('amount')}>
            <NumberInput unit="USDC" value={values.amount} onChange={(amount) => set('amount', amount)} />
          </Field>
          {available !== undefined && !values.isOfFees && (
            <Button size="sm" onClick={() => set('amount', available)}>
              All: {available} USDC
            </Button>
          )}
          <Field
            label="To"
            error={error('to')}
            hint="Leave empty for the account's wallet. Withdrawals can't be reversed."
          >
            <TextInput
              value={values.to}
              onChange={(to) => set('to', to)}
              placeholder={address}
              spellCheck={false}
              autoComplete="off"
              className="font-mono text-[13px]"
            />
          </Field>
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
