import { useEffect, useRef, useState } from 'react';
import { TextInput } from '../../ui/controls/text-input.tsx';

interface SearchBoxProps {
  readonly value: string;
  readonly onChange: (text: string) => void;
}

const PAUSE_MS = 250;

/** Words to search by; asked for when typing pauses. */
export function SearchBox({ value, onChange }: SearchBoxProps) {
  const [typed, setTyped] = useState(value);
  const [known, setKnown] = useState(value);
  const waiting = useRef<ReturnType<typeof setTimeout>>(undefined);
  if (known !== value) {
    setKnown(value);
    if (typed.trim() !== value) setTyped(value);
  }
  useEffect(() => () => clearTimeout(waiting.current), []);
  const take = (text: string) => {
    clearTimeout(waiting.current);
    if (text.trim() !== value) onChange(text.trim());
  };
  return (
    <TextInput
      type="search"
      aria-label="Search agents"
      aria-keyshortcuts="/"
      placeholder="Search name, description or tags  ( / )"
      maxLength={200}
      value={typed}
      onChange={(text) => {
        setTyped(text);
        clearTimeout(waiting.current);
        waiting.current = setTimeout(() => take(text), PAUSE_MS);
      }}
      onKeyDown={(event) => event.key === 'Enter' && take(typed)}
      onBlur={() => take(typed)}
    />
  );
}
