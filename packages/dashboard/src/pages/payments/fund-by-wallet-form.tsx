import { paymentEndpoints } from '@agent-network/contracts/payments/payments';
import { networkName } from '../../app/network-name.ts';
import { useSessionInfo } from '../../app/session.ts';
import { useForm } from '../../forms/use-form.ts';
import { Button } from '../../ui/controls/button.tsx';
import { Field } from '../../ui/controls/field.tsx';
import { Select } from '../../ui/controls/select.tsx';
import { NumberInput } from '../../ui/controls/text-input.tsx';
import { Actions } from '../../ui/overlays/dialog.tsx';
import { toast } from '../../ui/overlays/toasts.tsx';
import { ErrorNote } from '../../ui/values/error-note.tsx';
import { useWalletField } from '../../wallet/wallet-field.tsx';
import { type NamedTreasury, treasuryOptions } from './treasury.ts';
import { useDeposit } from './use-deposit.ts';

interface FundByWalletFormProps {
  readonly treasuries: readonly NamedTreasury[];
  readonly treasuryId: string | undefined;
  readonly onClose: () => void;
}

/** The node answers with a bill, the wallet signs it, and the node collects it on the chain. */
export function FundByWalletForm({ treasuries, treasuryId, onClose }: FundByWalletFormProps) {
  const info = useSessionInfo();
  const { wallet, field } = useWalletField();
  const { deposit, isUncertain } = useDeposit();
  const form = useForm({
    initial: { amount: '', treasuryId: treasuryId ?? treasuries[0]?.treasuryId ?? '' },
    schema: paymentEndpoints.depositToTreasury.body,
    toBody: ({ amount, treasuryId: id }) => ({ amount: amount.trim(), ...(id ? { treasuryId: id } : {}) }),
    async onSubmit(wish) {
      if (!wallet) return;
      const { amount } = await deposit.mutateAsync({
        provider: wallet.provider,
        wish: { ...wish, amount: String(wish.amount) },
      });
      toast(`${amount} USDC added`);
      onClose();
    },
  });
  const { values, set, error } = form;
  return (
    <form onSubmit={form.submit} noValidate className="space-y-4">
      <fieldset disabled={form.isBusy || isUncertain} className="space-y-4">
        {treasuries.length > 0 && (
          <Field label="Into" error={error('treasuryId')}>
            <Select
              value={values.treasuryId}
              onChange={(id) => set('treasuryId', id)}
              options={treasuryOptions(treasuries)}
            />
          </Field>
        )}
        <Field
          label="Amount"
          isRequired
          error={error('amount')}
          hint={`Your wallet signs a payment of this amount on ${networkName(info)}. It pays no gas.`}
        >
          <NumberInput unit="USDC" value={values.amount} onChange={(amount) => set('amount', amount)} />
        </Field>
        {field}
      </fieldset>
      {form.isBusy && (
        <p role="status" className="text-muted">
          Waiting for the wallet, then for the chain…
        </p>
      )}
      <ErrorNote error={form.failure} />
      {isUncertain && (
        <p className="rounded-md bg-warn-soft px-3 py-2 text-warn">
          The payment is signed and may have gone through. Retrying sends the same payment, so nothing is paid twice.
        </p>
      )}
      <Actions>
        <Button onClick={onClose}>{isUncertain ? 'Close' : 'Cancel'}</Button>
        <Button type="submit" variant="primary" icon="wallet" isBusy={form.isBusy} disabled={!wallet}>
          {isUncertain ? 'Retry' : wallet ? `Pay with ${wallet.name}` : 'Pay'}
        </Button>
      </Actions>
    </form>
  );
}
