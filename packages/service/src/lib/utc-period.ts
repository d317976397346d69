import { DAY_MS, HOUR_MS } from './duration.ts';

/** Whole days (UTC) up to now, divided into hours or days. */
export interface UtcPeriod {
  readonly days: number;
  /** Hours for one day, else days. */
  readonly span: 'hour' | 'day';
  readonly from: Date;
  /** Now. */
  readonly to: Date;
  /** Start of each hour or day, without gaps, up to the current one. */
  readonly starts: readonly Date[];
}

/** Returns the last `days` days (UTC), including the day of `now`. */
export function utcPeriod(days: number, now: Date): UtcPeriod {
  const span = days === 1 ? 'hour' : 'day';
  const stepMs = span === 'hour' ? HOUR_MS : DAY_MS;
  const fromMs = startOfDay(now).getTime() - (days - 1) * DAY_MS;
  const count = Math.floor((now.getTime() - fromMs) / stepMs) + 1;
  const starts = Array.from({ length: count }, (_, index) => new Date(fromMs + index * stepMs));
  return { days, span, from: new Date(fromMs), to: now, starts };
}

const startOfDay = (now: Date): Date => new Date(Math.floor(now.getTime() / DAY_MS) * DAY_MS);
