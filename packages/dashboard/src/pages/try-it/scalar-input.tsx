import { useState } from 'react';
import { Select } from '../../ui/controls/select.tsx';
import { NumberInput, Textarea, TextInput } from '../../ui/controls/text-input.tsx';
import { numberTyped, type Scalar } from './input-fields.ts';

interface ScalarInputProps<Kind extends Scalar = Scalar> {
  readonly kind: Kind;
  /** undefined: there is none. It fits the kind. */
  readonly value: unknown;
  readonly onChange: (value: unknown) => void;
}

/** Input for one value of a schema. */
export function ScalarInput({ kind, ...rest }: ScalarInputProps) {
  if (kind.is === 'number') return <NumberField {...rest} kind={kind} />;
  if (kind.is === 'choice') return <ChoiceField {...rest} kind={kind} />;
  const props = {
    value: typeof rest.value === 'string' ? rest.value : '',
    onChange: (text: string) => rest.onChange(text === '' ? undefined : text),
  };
  return kind.isLong ? <Textarea rows={2} {...props} /> : <TextInput autoComplete="off" {...props} />;
}

/** Keeps what was typed, such as "1.0", for as long as it means the value. */
function NumberField({ value, onChange }: ScalarInputProps) {
  const [typed, setTyped] = useState('');
  const text = value === undefined || value === null ? '' : String(value);
  return (
    <NumberInput
      value={numberTyped(typed) === value ? typed : text}
      onChange={(next) => {
        setTyped(next);
        onChange(numberTyped(next));
      }}
    />
  );
}

const labelOf = (value: unknown) => (typeof value === 'string' && value !== '' ? value : JSON.stringify(value));

function ChoiceField({ kind: { values }, value, onChange }: ScalarInputProps<Extract<Scalar, { is: 'choice' }>>) {
  const at = values.findIndex((each) => JSON.stringify(each) === JSON.stringify(value));
  return (
    <Select
      value={String(at)}
      onChange={(next) => onChange(next === '-1' ? undefined : values[Number(next)])}
      options={[
        { value: '-1', label: '(none)' },
        ...values.map((each, index) => ({ value: String(index), label: labelOf(each) })),
      ]}
    />
  );
}
