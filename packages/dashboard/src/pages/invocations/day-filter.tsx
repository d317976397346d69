import { TextInput } from '../../ui/controls/text-input.tsx';

interface DayFilterProps {
  readonly label: string;
  readonly value: string | undefined;
  readonly onChange: (day: string) => void;
}

/** A day (UTC) with its label before it. */
export const DayFilter = ({ label, value = '', onChange }: DayFilterProps) => (
  // biome-ignore lint/a11y/noLabelWithoutControl: the input is in the label
  <label className="flex items-center gap-2 text-muted">
    {label}
    <TextInput type="date" value={value} onChange={onChange} className="sm:w-36" />
  </label>
);
