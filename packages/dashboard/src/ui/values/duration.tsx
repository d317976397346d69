import { dash } from './dash.tsx';
/** 850 → "850 ms", 12 340 → "12.3 s", 192 000 → "3 min 12 s". */
export function durationText(ms: number): string {
  if (ms < 1000) return `${Math.round(ms)} ms`;
  if (ms < 59_950) return `${(ms / 1000).toFixed(ms < 10_000 ? 2 : 1)} s`;
  const seconds = Math.round(ms / 1000);
  return `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
}

/** A duration in milliseconds, or as the API writes it ("1.25s"); null: a dash. */
export function Duration({ value }: { value: number | string | null | undefined }) {
  if (value === null || value === undefined) return dash;
  const ms = typeof value === 'number' ? value : Number.parseFloat(value) * 1000;
  return <span className="whitespace-nowrap">{durationText(ms)}</span>;
}
