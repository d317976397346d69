import { useApi } from '../../app/api-query.ts';
import { Field } from '../../ui/controls/field.tsx';
import { Select } from '../../ui/controls/select.tsx';
import { groupDigits } from '../../ui/values/money.tsx';
import { useInjectedWallets } from '../../wallet/injected-wallets.ts';

export const TREASURY = 'treasury';

interface PayChoiceProps {
  /** `TREASURY`, or the id of a wallet. */
  readonly value: string;
  readonly onChange: (value: string) => void;
}

/** Choice of the payer: the account's treasury, or a wallet of this browser. */
export function PayChoice({ value, onChange }: PayChoiceProps) {
  const wallets = useInjectedWallets();
  const { data } = useApi('getBalance');
  const own = data?.treasuries.find(({ agentId }) => agentId === null);
  const available = data && ` (${groupDigits(own?.available ?? '0.00')} USDC available)`;
  return (
    <Field label="Paid by" hint={wallets.length === 0 ? 'No wallet was found in this browser.' : undefined}>
      <Select
        value={value}
        onChange={onChange}
        options={[
          { value: TREASURY, label: `Treasury${available ?? ''}` },
          ...wallets.map(({ id, name }) => ({ value: id, label: `${name} (x402)` })),
        ]}
      />
    </Field>
  );
}
