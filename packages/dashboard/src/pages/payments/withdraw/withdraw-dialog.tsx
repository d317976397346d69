import type { Api } from '@agent-network/contracts/api';
import type { Call } from '@agent-network/contracts/endpoint';
import { paymentEndpoints } from '@agent-network/contracts/payments/payments';
import { mayHaveHappened } from '@agent-network/sdk';
import { useMutation } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useRef } from 'react';
import { client } from '../../../app/client.ts';
import { useSession } from '../../../app/session.ts';
import { type Form, useForm } from '../../../forms/use-form.ts';
import { Button } from '../../../ui/controls/button.tsx';
import { Checkbox } from '../../../ui/controls/checkbox.tsx';
import { Field } from '../../../ui/controls/field.tsx';
import { Select } from '../../../ui/controls/select.tsx';
import { NumberInput, TextInput } from '../../../ui/controls/text-input.tsx';
import { Actions, Dialog } from '../../../ui/overlays/dialog.tsx';
import { ErrorNote } from '../../../ui/values/error-note.tsx';
import { Warning } from '../../../ui/values/note.tsx';
import type { InjectedWallet } from '../../../wallet/injected-wallets.ts';
import { connectAs, signText } from '../../../wallet/sign-text.ts';
import { useWalletField } from '../../../wallet/wallet-field.tsx';
import { type NamedTreasury, treasuryOptions } from '../treasury.ts';
import { useMoneyMoved } from '../use-money-moved.ts';

/** The form of a withdrawal, with all values as typed. */
interface WithdrawalValues {
  readonly amount: string;
  readonly treasuryId: string;
  /** '': the wallet of the account. */
  readonly to: string;
  readonly isOfFees: boolean;
}

/** Maps the form to a body of the API; empty fields are left out. */
const withdrawalBody = ({ amount, treasuryId, to, isOfFees }: WithdrawalValues): WithdrawalWish => ({
  amount: amount.trim(),
  treasuryId,
  ...(to.trim() ? { to: to.trim() } : {}),
  ...(isOfFees ? { from: 'fees' as const } : {}),
});

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
        {isUncertain && <Warning>It isn't known whether this went through. Retrying can't withdraw twice.</Warning>}
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

interface WithdrawFieldsProps {
  readonly form: Form<WithdrawalValues>;
  readonly treasuries: readonly NamedTreasury[];
}

/** From where, how much, and to whom. */
function WithdrawFields({ form: { values, set, error }, treasuries }: WithdrawFieldsProps) {
  const { address, scopes } = useSession();
  const available = treasuries.find((each) => each.treasuryId === values.treasuryId)?.available;
  return (
    <>
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
      <Field label="To" error={error('to')} hint="Leave empty for the account's wallet. Withdrawals can't be reversed.">
        <TextInput
          value={values.to}
          onChange={(to) => set('to', to)}
          placeholder={address}
          spellCheck={false}
          autoComplete="off"
          className="font-mono text-[13px]"
        />
      </Field>
    </>
  );
}

type WithdrawalWish = Call<Api['requestWithdrawal']>['body'];

/** One withdrawal, under one key and with one proof, however often it is sent. */
interface Attempt {
  readonly key: string;
  readonly body: Call<Api['withdraw']>['body'];
}

/**
 * Withdraws with a fresh signature of the account's wallet; local mode's own account needs none. While it is not known how a
 * withdrawal ended, the next call sends that one again, and asks for no signature.
 */
function useWithdrawal() {
  const { address, isLocal } = useSession();
  const moneyMoved = useMoneyMoved();
  const attempt = useRef<Attempt | null>(null);

  async function prove(wish: WithdrawalWish, wallet: InjectedWallet | null): Promise<Attempt['body']> {
    if (isLocal) return wish;
    if (!wallet)
      throw new Error("Withdrawals are signed by the account's wallet. Open this page in a browser that has it.");
    await connectAs(wallet.provider, address);
    const { challengeId, message } = await client.requestWithdrawal({ body: wish });
    return { ...wish, proof: { challengeId, signature: await signText(wallet.provider, address, message) } };
  }

  const withdraw = useMutation({
    async mutationFn({ wish, wallet }: { wish: WithdrawalWish; wallet: InjectedWallet | null }) {
      attempt.current ??= { key: crypto.randomUUID(), body: await prove(wish, wallet) };
      const { key, body } = attempt.current;
      try {
        const withdrawal = await client.withdraw({ body }, { idempotencyKey: key });
        attempt.current = null;
        return withdrawal;
      } catch (error) {
        if (!mayHaveHappened(error)) attempt.current = null;
        throw error;
      }
    },
    onSettled: moneyMoved,
  });
  return { withdraw, isUncertain: withdraw.isError && attempt.current !== null };
}
