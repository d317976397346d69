import { createContext, type ReactNode, useContext, useId } from 'react';

interface FieldContext {
  readonly id: string;
  readonly 'aria-describedby': string | undefined;
  readonly 'aria-invalid': true | undefined;
  readonly 'aria-required': true | undefined;
}

const Context = createContext<FieldContext | null>(null);

/** Props of the input inside a `Field`: its id and the ids of its descriptions. */
export const useFieldProps = (): Partial<FieldContext> => useContext(Context) ?? {};

interface FieldProps {
  readonly label: string;
  readonly hint?: ReactNode;
  /** Error of the value; `form.error('name')`. */
  readonly error?: string | undefined;
  readonly isRequired?: boolean;
  /** One input of this folder. */
  readonly children: ReactNode;
}

/** A label within a sentence: names and abbreviations keep their capitals. */
const inSentence = (label: string) =>
  /^[A-Z][a-z]/.test(label) ? label.charAt(0).toLowerCase() + label.slice(1) : label;

/** An error of a value as a sentence. Errors of a schema and of the node have no subject: it is the label. */
export function errorText(label: string, error: string): string {
  if (error === 'is required') return `Enter ${/^[aeio]/i.test(label) ? 'an' : 'a'} ${inSentence(label)}`;
  if (error === 'must have at least 1') return 'Add at least one';
  return /^(?:is|must|needs|can|has|holds|does) /.test(error) ? `${label} ${error}` : error;
}

/** An input with its label, a hint and its error. */
export function Field({ label, hint, error, isRequired = false, children }: FieldProps) {
  const id = useId();
  const described = [hint && `${id}-hint`, error && `${id}-error`].filter(Boolean).join(' ');
  const value: FieldContext = {
    id,
    'aria-describedby': described || undefined,
    'aria-invalid': error ? true : undefined,
    'aria-required': isRequired || undefined,
  };
  return (
    <div className="min-w-0">
      <label htmlFor={id} className="mb-1 block font-medium">
        {label}
        {!isRequired || <span className="text-muted"> (required)</span>}
      </label>
      <Context value={value}>{children}</Context>
      {hint && (
        <p id={`${id}-hint`} className="mt-1 text-[13px] text-muted">
          {hint}
        </p>
      )}
      {error && (
        <p id={`${id}-error`} className="mt-1 text-[13px] text-bad">
          {errorText(label, error)}
        </p>
      )}
    </div>
  );
}

/** Several inputs that belong together, with a title over them. */
export const Fieldset = ({ legend, children }: { legend: string; children: ReactNode }) => (
  <fieldset className="min-w-0">
    <legend className="mb-1 font-medium">{legend}</legend>
    {children}
  </fieldset>
);
