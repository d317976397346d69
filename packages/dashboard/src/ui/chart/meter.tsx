import type { ReactNode } from 'react';

interface MeterProps {
  readonly label: string;
  readonly used: number;
  readonly limit: number;
  /** "120 of 1,000": the content of the bar as text. */
  readonly text: string;
  readonly hint?: ReactNode;
}

const NEARLY = 0.8;

/** Meter of the used part of a limit. */
export function Meter({ label, used, limit, text, hint }: MeterProps) {
  const share = limit > 0 ? Math.min(1, used / limit) : 1;
  const tone = share >= 1 ? 'bg-bad' : share >= NEARLY ? 'bg-warn' : 'bg-accent';
  return (
    <div>
      <div className="flex flex-wrap items-baseline justify-between gap-x-4">
        <span>{label}</span>
        <span className="text-[13px] text-muted">{text}</span>
      </div>
      <div aria-hidden="true" className="mt-1 h-1.5 overflow-hidden rounded-full bg-sunken">
        <div className={`h-full rounded-full ${tone}`} style={{ width: `${share * 100}%` }} />
      </div>
      {hint && <p className="mt-1 text-[13px] text-muted">{hint}</p>}
    </div>
  );
}
