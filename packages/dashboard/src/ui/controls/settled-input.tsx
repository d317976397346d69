import { useState } from 'react';
import { TextInput, type TextInputProps } from './text-input.tsx';

interface SettledInputProps extends Omit<TextInputProps, 'onKeyDown' | 'onBlur'> {
  /** While this returns false, the typed text is not reported. */
  readonly isGood?: (text: string) => boolean;
  /** Clears the input after each value, for adding to a list. */
  readonly isEmptied?: boolean;
}

/** An input that reports its text when it is left or confirmed, not letter by letter: for filters. */
export function SettledInput({ value, onChange, isGood = () => true, isEmptied = false, ...rest }: SettledInputProps) {
  const [typed, setTyped] = useState(value);
  const [known, setKnown] = useState(value);
  if (known !== value) {
    setKnown(value);
    setTyped(value);
  }
  const text = typed.trim();
  const isWrong = text !== '' && !isGood(text);
  const take = () => {
    if (isWrong || text === value) return;
    onChange(text);
    if (isEmptied) setTyped('');
  };
  return (
    <TextInput
      {...rest}
      {...(isWrong ? { 'aria-invalid': true } : {})}
      value={typed}
      onChange={setTyped}
      onBlur={take}
      onKeyDown={(event) => event.key === 'Enter' && take()}
    />
  );
}
