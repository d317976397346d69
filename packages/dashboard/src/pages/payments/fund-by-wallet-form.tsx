import { paymentEndpoints } from '@agent-network/contracts/payments/payments';
import { mayHaveHappened } from '@agent-network/sdk';
import { useMutation } from '@tanstack/react-query';
import { useRef } from 'react';
import { client, payingClient } from '../../app/client.ts';
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
import { Warning } from '../../ui/values/note.tsx';
import type { Eip1193Provider } from '../../wallet/injected-wallets.ts';
import { useWalletField } from '../../wallet/wallet-field.tsx';
import { type WalletPayer, walletPayer } from '../../wallet/wallet-payer.ts';
import { fundingOptions, type NamedTreasury } from './treasury.ts';
import { useMoneyMoved } from './use-money-moved.ts';

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
  const into = fundingOptions(treasuries);
  const form = useForm({
    initial: { amount: '', treasuryId: treasuryId ?? into[0].value },
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
        {into.length > 1 && (
          <Field label="Into" error={error('treasuryId')} hint="Your calls are paid from the account's treasury.">
            <Select value={values.treasuryId} onChange={(id) => set('treasuryId', id)} options={into} />
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
        <Warning>
          The payment is signed and may have gone through. Retrying sends the same payment, so nothing is paid twice.
        </Warning>
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

interface DepositWish {
  readonly amount: string;
  /** undefined: the treasury of the account, which is opened when there is none. */
  readonly treasuryId?: string | undefined;
}

/** One deposit, under one key and with one signed payment, however often it is sent. */
interface Attempt {
  readonly key: string;
  readonly payer: WalletPayer;
  readonly body: { readonly amount: string; readonly treasuryId: string };
}

/**
 * Deposits from a wallet of this browser. While it is not known how a deposit ended, the next call sends that one again, and signs
 * nothing.
 */
function useDeposit() {
  const { chainId, usdc } = useSessionInfo();
  const moneyMoved = useMoneyMoved();
  const attempt = useRef<Attempt | null>(null);

  async function begin(provider: Eip1193Provider, { amount, treasuryId }: DepositWish): Promise<Attempt> {
    const payer = await walletPayer(provider, { chainId, usdc }, amount);
    const into = treasuryId ?? (await client.createTreasury({ body: {} })).treasuryId;
    return { key: crypto.randomUUID(), payer, body: { amount, treasuryId: into } };
  }

  const deposit = useMutation({
    async mutationFn({ provider, wish }: { provider: Eip1193Provider; wish: DepositWish }) {
      attempt.current ??= await begin(provider, wish);
      const { key, payer, body } = attempt.current;
      try {
        const receipt = await payingClient(payer).depositToTreasury({ body }, { idempotencyKey: key });
        attempt.current = null;
        return receipt;
      } catch (error) {
        if (!payer.signed() || !mayHaveHappened(error)) attempt.current = null;
        throw error;
      }
    },
    onSettled: moneyMoved,
  });
  return { deposit, isUncertain: deposit.isError && attempt.current !== null };
}
