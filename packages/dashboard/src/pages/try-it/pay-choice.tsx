import { Field } from '../../ui/controls/field.tsx';
import { Select } from '../../ui/controls/select.tsx';
import { groupDigits } from '../../ui/values/money.tsx';
import { useInjectedWallets } from '../../wallet/injected-wallets.ts';

export const TREASURY = 'treasury';
const BY_CHANNEL = 'channel ';

/** The wallet of a choice, and whether its channel pays; null: the treasury does. */
export function walletChoice(value: string): { readonly walletId: string; readonly isByChannel: boolean } | null {
  if (value === TREASURY) return null;
  const isByChannel = value.startsWith(BY_CHANNEL);
  return { walletId: isByChannel ? value.slice(BY_CHANNEL.length) : value, isByChannel };
}

interface PayChoiceProps {
  /** `TREASURY`, or a wallet: see `walletChoice`. */
  readonly value: string;
  readonly onChange: (value: string) => void;
  /** In the treasury; undefined: not known yet. */
  readonly available: string | undefined;
}

/** Choice of the payer: the account's treasury, or a wallet of this browser, by a transfer or by its channel. */
export function PayChoice({ value, onChange, available }: PayChoiceProps) {
  const wallets = useInjectedWallets();
  const ofTreasury = available && ` (${groupDigits(available)} USDC available)`;
  return (
    <Field label="Paid by" hint={wallets.length === 0 ? 'No wallet was found in this browser.' : undefined}>
      <Select
        value={value}
        onChange={onChange}
        options={[
          { value: TREASURY, label: `Treasury${ofTreasury ?? ''}` },
          ...wallets.flatMap(({ id, name }) => [
            { value: id, label: `${name} (x402)` },
            { value: BY_CHANNEL + id, label: `${name} (channel)` },
          ]),
        ]}
      />
    </Field>
  );
}
