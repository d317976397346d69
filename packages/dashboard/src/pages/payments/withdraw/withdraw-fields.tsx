import { useSession } from '../../../app/session.ts';
import type { Form } from '../../../forms/use-form.ts';
import { Button } from '../../../ui/controls/button.tsx';
import { Checkbox } from '../../../ui/controls/checkbox.tsx';
import { Field } from '../../../ui/controls/field.tsx';
import { Select } from '../../../ui/controls/select.tsx';
import { NumberInput, TextInput } from '../../../ui/controls/text-input.tsx';
import { type NamedTreasury, treasuryOptions } from '../treasury.ts';
import type { WithdrawalValues } from './withdrawal-body.ts';

interface WithdrawFieldsProps {
  readonly form: Form<WithdrawalValues>;
  readonly treasuries: readonly NamedTreasury[];
}

/** From where, how much, and to whom. */
export function WithdrawFields({ form: { values, set, error }, treasuries }: WithdrawFieldsProps) {
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
