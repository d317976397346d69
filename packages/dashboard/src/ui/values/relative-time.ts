const units: readonly [Intl.RelativeTimeFormatUnit, number][] = [
  ['year', 31_536_000],
  ['month', 2_592_000],
  ['day', 86_400],
  ['hour', 3600],
  ['minute', 60],
];
const format = new Intl.RelativeTimeFormat('en', { numeric: 'auto', style: 'short' });

/** "now", "5 min ago", "in 2 days". */
export function relativeTime(atMs: number, nowMs: number): string {
  const seconds = Math.round((atMs - nowMs) / 1000);
  const [unit, size] = units.find(([, each]) => Math.abs(seconds) >= each) ?? ['second', 1];
  if (unit === 'second' && Math.abs(seconds) < 10) return 'now';
  return format.format(Math.trunc(seconds / size), unit).replace('.', '');
}

/** "16:03:37.042", in the zone of who reads it. */
export const timeInMs = (at: string): string =>
  new Date(at).toLocaleTimeString('en-GB', {
    hour: '2-digit',
    minute: '2-digit',
    second: '2-digit',
    fractionalSecondDigits: 3,
  });

/** "21 Nov 2026, 16:03:37", in the zone of who reads it. */
export const absoluteTime = (at: string): string =>
  new Date(at).toLocaleString('en-GB', { dateStyle: 'medium', timeStyle: 'medium' });
