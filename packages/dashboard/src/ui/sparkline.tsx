interface SparklineProps {
  readonly values: readonly number[];
  /** What it shows, in words with numbers: "calls in 7 days, 12 to 80". */
  readonly label: string;
  readonly className?: string;
}

/** A line of a few numbers, small enough for a row of a table. */
export function Sparkline({ values, label, className = 'h-5 w-20' }: SparklineProps) {
  const highest = Math.max(...values, 1);
  const step = values.length > 1 ? 100 / (values.length - 1) : 0;
  const points = values.map((value, at) => `${(at * step).toFixed(1)},${(22 - (value / highest) * 20).toFixed(1)}`);
  return (
    <svg
      viewBox="0 0 100 24"
      preserveAspectRatio="none"
      role="img"
      aria-label={label}
      className={`text-accent ${className}`}
    >
      <polyline
        points={points.join(' ')}
        fill="none"
        stroke="currentColor"
        strokeWidth="1.5"
        vectorEffect="non-scaling-stroke"
      />
    </svg>
  );
}
