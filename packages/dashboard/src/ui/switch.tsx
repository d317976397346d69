import { Switch as Base } from '@base-ui/react/switch';
import { useFieldProps } from './field.tsx';

interface SwitchProps {
  readonly isOn: boolean;
  readonly onChange: (isOn: boolean) => void;
  /** Its name, where no `Field` around it gives one. */
  readonly 'aria-label'?: string;
  readonly isDisabled?: boolean;
}

/** Takes effect at once; a choice that is saved later is a `Checkbox`. */
export const Switch = ({ isOn, onChange, isDisabled = false, ...rest }: SwitchProps) => (
  <Base.Root
    {...useFieldProps()}
    {...rest}
    checked={isOn}
    onCheckedChange={onChange}
    disabled={isDisabled}
    className="relative inline-flex h-5 w-9 shrink-0 rounded-full bg-line-strong transition-colors data-checked:bg-accent data-disabled:opacity-50"
  >
    <Base.Thumb className="m-0.5 size-4 rounded-full bg-white transition-transform data-checked:translate-x-4" />
  </Base.Root>
);
