interface MeterProps {
  /** What is measured: its name for readers. */
  readonly label: string;
  readonly value: number;
  readonly max: number;
  /** "12 of 100". */
  readonly text: string;
}

const NEARLY = 0.8;

/** How much of something bounded is used. */
export function Meter({ label, value, max, text }: MeterProps) {
  const share = max > 0 ? Math.min(1, value / max) : 1;
  const tone = share >= 1 ? 'bg-bad' : share >= NEARLY ? 'bg-warn' : 'bg-accent';
  return (
    <div className="min-w-0">
      <div className="text-[13px] whitespace-nowrap">{text}</div>
      {/* biome-ignore lint/a11y/useSemanticElements: browsers draw <meter> each in their own way */}
      <div
        role="meter"
        aria-label={label}
        aria-valuemin={0}
        aria-valuemax={max}
        aria-valuenow={Math.min(value, max)}
        aria-valuetext={text}
        className="mt-1 h-1.5 overflow-hidden rounded-full bg-line"
      >
        <div className={`h-full rounded-full ${tone}`} style={{ width: `${share * 100}%` }} />
      </div>
    </div>
  );
}
