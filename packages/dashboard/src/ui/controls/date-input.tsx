import { useRef } from 'react';
import { IconButton } from './button.tsx';
import { SettledInput } from './settled-input.tsx';

interface DateInputProps {
  /** A day as YYYY-MM-DD; empty: none. */
  readonly value: string;
  readonly onChange: (day: string) => void;
}

const isDay = (text: string): boolean => {
  const time = /^\d{4}-\d{2}-\d{2}$/.test(text) ? Date.parse(text) : Number.NaN;
  return !Number.isNaN(time) && new Date(time).toISOString().startsWith(text);
};

/** A day, typed as YYYY-MM-DD everywhere in the world, or picked from the calendar of the browser. */
export function DateInput({ value, onChange }: DateInputProps) {
  const calendar = useRef<HTMLInputElement>(null);
  return (
    <div className="relative">
      <SettledInput
        value={value}
        onChange={onChange}
        isGood={isDay}
        placeholder="YYYY-MM-DD"
        inputMode="numeric"
        autoComplete="off"
        maxLength={10}
        className="pr-9"
      />
      <input
        ref={calendar}
        type="date"
        value={value}
        tabIndex={-1}
        aria-hidden="true"
        onChange={(event) => onChange(event.target.value)}
        className="pointer-events-none absolute right-0 bottom-0 size-9 opacity-0"
      />
      <IconButton
        size="sm"
        icon="calendar"
        label="Pick a day"
        className="absolute top-1 right-1"
        onClick={() => calendar.current?.showPicker()}
      />
    </div>
  );
}
