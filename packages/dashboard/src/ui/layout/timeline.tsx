import type { ReactNode } from 'react';
import type { Tone } from '../values/badge.tsx';
import { groupDigits } from '../values/money.tsx';
import { absoluteTime, timeInMs } from '../values/relative-time.ts';

export interface TimelineEntry {
  readonly title: ReactNode;
  /** null: it has not happened yet. */
  readonly at: string | null;
  readonly detail?: ReactNode;
  readonly tone?: Tone;
}

const dots: Readonly<Record<Tone, string>> = {
  neutral: 'bg-line-strong',
  accent: 'bg-accent',
  good: 'bg-good',
  warn: 'bg-warn',
  bad: 'bg-bad',
};

/** Events in order of time, to the millisecond, each with the time since the first. */
export const Timeline = ({ entries, label }: { entries: readonly TimelineEntry[]; label: string }) => (
  <ol aria-label={label} className="relative ml-1.5 border-l border-line">
    {entries.map(({ title, at, detail, tone = 'neutral' }, index) => (
      // biome-ignore lint/suspicious/noArrayIndexKey: entries are only ever added at the end
      <li key={index} className="relative pb-4 pl-5 last:pb-0">
        <span aria-hidden="true" className={`absolute top-1.5 -left-[4.5px] size-2 rounded-full ${dots[tone]}`} />
        <div className="flex flex-wrap items-baseline justify-between gap-x-4">
          <span className="font-medium">{title}</span>
          <span className="text-[13px] text-muted">
            {at ? <Moment at={at} since={entries[0]?.at ?? at} /> : 'pending'}
          </span>
        </div>
        {detail && <div className="mt-0.5 text-muted wrap-anywhere">{detail}</div>}
      </li>
    ))}
  </ol>
);

const Moment = ({ at, since }: { at: string; since: string }) => {
  const ms = Date.parse(at) - Date.parse(since);
  return (
    <span className="whitespace-nowrap">
      {ms > 0 && <span className="mr-2">+{groupDigits(ms)} ms</span>}
      <time dateTime={at} title={absoluteTime(at)}>
        {timeInMs(at)}
      </time>
    </span>
  );
};
