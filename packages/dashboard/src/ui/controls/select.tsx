import { classNames } from '../class-names.ts';
import { Icon } from '../values/icon.tsx';
import { useFieldProps } from './field.tsx';
import { inputClass } from './text-input.tsx';

export interface Option<Value extends string = string> {
  readonly value: Value;
  readonly label: string;
}

interface SelectProps<Value extends string> {
  readonly value: Value;
  readonly onChange: (value: Value) => void;
  readonly options: readonly Option<Value>[];
  /** Label, needed where no `Field` around it gives one. */
  readonly 'aria-label'?: string;
  readonly className?: string;
}

/** A choice from a list; the browser's own control. */
export function Select<Value extends string>({ value, onChange, options, className, ...rest }: SelectProps<Value>) {
  return (
    <div className={classNames('relative', className)}>
      <select
        {...useFieldProps()}
        {...rest}
        value={value}
        onChange={(event) => onChange(event.target.value as Value)}
        className={classNames(inputClass, 'appearance-none pr-8')}
      >
        {options.map((option) => (
          <option key={option.value} value={option.value}>
            {option.label}
          </option>
        ))}
      </select>
      <Icon name="chevronDown" className="pointer-events-none absolute top-2.5 right-2 size-4 text-muted" />
    </div>
  );
}
