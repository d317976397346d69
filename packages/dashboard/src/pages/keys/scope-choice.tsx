import type { Scope } from '@agent-network/contracts/access/scopes';
import { Checkbox } from '../../ui/controls/checkbox.tsx';
import { Fieldset } from '../../ui/controls/field.tsx';
import { scopeTexts } from './key.ts';

interface ScopeChoiceProps {
  readonly offered: readonly Scope[];
  readonly chosen: readonly Scope[];
  readonly onChange: (scopes: readonly Scope[]) => void;
  readonly error: string | undefined;
}

export const ScopeChoice = ({ offered, chosen, onChange, error }: ScopeChoiceProps) => (
  <Fieldset legend="Scopes">
    <div className="grid gap-x-4 sm:grid-cols-2">
      {offered.map((scope) => (
        <Checkbox
          key={scope}
          label={<code className="text-[13px]">{scope}</code>}
          hint={scopeTexts[scope]}
          isChecked={chosen.includes(scope)}
          onChange={(isChecked) => onChange(isChecked ? [...chosen, scope] : chosen.filter((each) => each !== scope))}
        />
      ))}
    </div>
    {error && <p className="text-[13px] text-bad">{error}</p>}
    <p className="mt-1 text-[13px] text-muted">
      {offered.includes('payments:withdraw')
        ? 'A key that can withdraw sends USDC to any wallet without asking you again.'
        : 'For withdrawals by a program, create a withdrawal key: your wallet signs for it.'}
    </p>
  </Fieldset>
);
