import { type KeyboardEvent, useState } from 'react';
import { Icon } from '../values/icon.tsx';
import { useFieldProps } from './field.tsx';

interface TokenInputProps {
  readonly values: readonly string[];
  readonly onChange: (values: readonly string[]) => void;
  /** Noun for one item: "capability". */
  readonly noun: string;
  readonly placeholder?: string;
}

const split = (text: string) =>
  text
    .split(/[,\n\t]/)
    .map((each) => each.trim())
    .filter(Boolean);

/** Some short texts. Enter, a comma or leaving the field takes one over; Backspace in the empty field takes the last one back. */
export function TokenInput({ values, onChange, noun, placeholder }: TokenInputProps) {
  const [typed, setTyped] = useState('');
  const field = useFieldProps();
  const take = (text: string) => {
    setTyped('');
    const fresh = split(text).filter((each) => !values.includes(each));
    if (fresh.length > 0) onChange([...values, ...new Set(fresh)]);
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === 'Enter' && typed.trim()) {
      event.preventDefault();
      take(typed);
    } else if (event.key === 'Backspace' && !typed) onChange(values.slice(0, -1));
  };
  return (
    <div className="flex min-h-9 w-full flex-wrap items-center gap-1 rounded-md border border-line-strong/60 bg-surface px-1.5 py-1 focus-within:outline-2 focus-within:outline-offset-2 focus-within:outline-accent has-aria-invalid:border-bad">
      {values.map((value) => (
        <span key={value} className="inline-flex max-w-full items-center gap-1 rounded bg-sunken py-0.5 pr-0.5 pl-1.5">
          <span className="truncate">{value}</span>
          <button
            type="button"
            aria-label={`Remove ${noun} ${value}`}
            onClick={() => onChange(values.filter((each) => each !== value))}
            className="rounded-sm p-0.5 text-muted hover:text-text"
          >
            <Icon name="close" className="size-3.5" />
          </button>
        </span>
      ))}
      <input
        {...field}
        type="text"
        value={typed}
        autoComplete="off"
        spellCheck={false}
        placeholder={values.length === 0 ? placeholder : undefined}
        onChange={({ target }) => (/[,\n\t]/.test(target.value) ? take(target.value) : setTyped(target.value))}
        onKeyDown={onKeyDown}
        onBlur={() => take(typed)}
        className="h-6 min-w-24 flex-1 bg-transparent px-1 outline-none! placeholder:text-muted"
      />
    </div>
  );
}
