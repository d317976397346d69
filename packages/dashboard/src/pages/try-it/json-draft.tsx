import { useState } from 'react';
import { Field } from '../../ui/controls/field.tsx';
import { JsonInput } from '../../ui/controls/text-input.tsx';
import { parseJson } from './call-values.ts';

interface JsonDraftProps {
  readonly label: string;
  readonly hint: string | undefined;
  readonly isRequired: boolean;
  readonly error: string | undefined;
  readonly value: unknown;
  /** Text that is not JSON yet. */
  readonly draft: string | undefined;
  readonly onChange: (value: unknown) => void;
  /** null: the text is JSON again. */
  readonly onDraft: (text: string | null) => void;
}

const textOf = (value: unknown) => (value === undefined ? '' : JSON.stringify(value, null, 2));

/** One field of the input, written as JSON. */
export function JsonDraft({ label, hint, isRequired, error, value, draft, onChange, onDraft }: JsonDraftProps) {
  const [typed, setTyped] = useState('');
  const meant = jsonValue(typed);
  const isTyped = meant !== null && textOf(meant.value) === textOf(value);
  const parsed = draft === undefined ? null : parseJson(draft);
  return (
    <Field
      label={label}
      hint={hint}
      isRequired={isRequired}
      error={parsed && 'problem' in parsed ? parsed.problem : error}
    >
      <JsonInput
        rows={3}
        value={draft ?? (isTyped ? typed : textOf(value))}
        onChange={(text) => {
          setTyped(text);
          const next = jsonValue(text);
          onDraft(next ? null : text);
          if (next) onChange(next.value);
        }}
      />
    </Field>
  );
}

/** The value of a text, none for an empty one; null: it is not JSON. */
function jsonValue(text: string): { readonly value: unknown } | null {
  if (text.trim() === '') return { value: undefined };
  const parsed = parseJson(text);
  return 'value' in parsed ? parsed : null;
}
