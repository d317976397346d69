import type { InputHTMLAttributes, TextareaHTMLAttributes } from 'react';
import { classNames } from '../class-names.ts';
import { useFieldProps } from './field.tsx';

/** Class of all text inputs. */
export const inputClass =
  'block h-9 w-full min-w-0 rounded-md border border-line-strong/60 bg-surface px-2.5 text-text placeholder:text-muted disabled:opacity-60 aria-invalid:border-bad';

type Given = 'value' | 'onChange';

export interface TextInputProps extends Omit<InputHTMLAttributes<HTMLInputElement>, Given> {
  readonly value: string;
  readonly onChange: (value: string) => void;
}

export const TextInput = ({ onChange, className, ...rest }: TextInputProps) => (
  <input
    type="text"
    dir="auto"
    {...useFieldProps()}
    {...rest}
    onChange={(event) => onChange(event.target.value)}
    className={classNames(inputClass, className)}
  />
);

/** A number as text: the typed text is kept, and validated by the schema. `unit` is shown after it. */
export const NumberInput = ({ unit, ...rest }: TextInputProps & { readonly unit?: string }) => (
  <div className="relative">
    <TextInput inputMode="decimal" autoComplete="off" {...rest} className={unit ? 'pr-16' : undefined} />
    {unit && (
      <span className="pointer-events-none absolute inset-y-0 right-2.5 flex items-center text-muted">{unit}</span>
    )}
  </div>
);

export interface TextareaProps extends Omit<TextareaHTMLAttributes<HTMLTextAreaElement>, Given> {
  readonly value: string;
  readonly onChange: (value: string) => void;
}

export const Textarea = ({ onChange, className, rows = 4, ...rest }: TextareaProps) => (
  <textarea
    {...useFieldProps()}
    {...rest}
    rows={rows}
    dir="auto"
    onChange={(event) => onChange(event.target.value)}
    className={classNames(inputClass, 'h-auto py-2', className)}
  />
);

/** JSON as text; `parseJson` reads it. */
export const JsonInput = (props: TextareaProps) => (
  <Textarea spellCheck={false} autoCapitalize="off" {...props} className="font-mono text-[13px]" />
);
