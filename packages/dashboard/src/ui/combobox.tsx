import { Combobox as Base } from '@base-ui/react/combobox';
import { useFieldProps } from './field.tsx';
import { Icon } from './icon.tsx';
import type { Option } from './select.tsx';
import { inputClass } from './text-input.tsx';

interface ComboboxProps {
  readonly value: string | null;
  readonly onChange: (value: string | null) => void;
  readonly options: readonly Option[];
  readonly placeholder?: string;
  readonly 'aria-label'?: string;
}

/** One of many, found by typing. */
export function Combobox({ value, onChange, options, placeholder, ...rest }: ComboboxProps) {
  const field = useFieldProps();
  const chosen = options.find((option) => option.value === value) ?? null;
  return (
    <Base.Root
      items={options}
      value={chosen}
      onValueChange={(option: Option | null) => onChange(option?.value ?? null)}
    >
      <div className="relative">
        <Base.Input {...field} {...rest} placeholder={placeholder} className={`${inputClass} pr-16`} />
        <div className="absolute inset-y-0 right-1 flex items-center text-muted">
          <Base.Clear aria-label="Clear" className="p-1.5">
            <Icon name="close" />
          </Base.Clear>
          <Base.Trigger aria-label="Show all" className="p-1.5">
            <Icon name="chevronDown" />
          </Base.Trigger>
        </div>
      </div>
      <Base.Portal>
        <Base.Positioner className="z-50 outline-none" sideOffset={4}>
          <Base.Popup className="max-h-64 w-(--anchor-width) overflow-y-auto rounded-lg border border-line bg-surface p-1 shadow-lg">
            <Base.Empty className="p-2 text-muted empty:hidden">Nothing matches.</Base.Empty>
            <Base.List>
              {(option: Option) => (
                <Base.Item
                  key={option.value}
                  value={option}
                  className="cursor-pointer rounded-md px-2 py-1.5 wrap-anywhere select-none data-highlighted:bg-sunken data-selected:font-medium"
                >
                  {option.label}
                </Base.Item>
              )}
            </Base.List>
          </Base.Popup>
        </Base.Positioner>
      </Base.Portal>
    </Base.Root>
  );
}
