import { useState } from 'react';
import { Field } from '../ui/controls/field.tsx';
import { Select } from '../ui/controls/select.tsx';
import { Warning } from '../ui/values/note.tsx';
import { type InjectedWallet, useInjectedWallets } from './injected-wallets.ts';

interface ChosenWallet {
  /** null: this browser has none. */
  readonly wallet: InjectedWallet | null;
  /** Select of the wallet when there are several; a note when there are none. */
  readonly field: React.ReactNode;
}

/** The wallet of this browser that is to sign. */
export function useWalletField(): ChosenWallet {
  const wallets = useInjectedWallets();
  const [id, setId] = useState('');
  const wallet = wallets.find((each) => each.id === id) ?? wallets[0] ?? null;
  if (!wallet)
    return {
      wallet,
      field: (
        <Warning>
          No wallet was found in this browser. Install one that supports EIP-6963, then reload this page.
        </Warning>
      ),
    };
  if (wallets.length === 1) return { wallet, field: null };
  return {
    wallet,
    field: (
      <Field label="Wallet">
        <Select
          value={wallet.id}
          onChange={setId}
          options={wallets.map((each) => ({ value: each.id, label: each.name }))}
        />
      </Field>
    ),
  };
}
