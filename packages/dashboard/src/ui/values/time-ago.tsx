import { dash } from './dash.tsx';
import { absoluteTime, relativeTime } from './relative-time.ts';
import { useNow } from './use-now.ts';

/** Relative time, with the exact time on hover; null: a dash. */
export function TimeAgo({ at, none = '–' }: { at: string | null | undefined; none?: string }) {
  const nowMs = useNow(10_000);
  if (!at) return <span className="text-muted">{none}</span>;
  return (
    <time dateTime={at} title={absoluteTime(at)} className="whitespace-nowrap">
      {relativeTime(Date.parse(at), Math.max(nowMs, Date.parse(at) > Date.now() ? nowMs : 0))}
    </time>
  );
}

/** The exact time. */
export const ExactTime = ({ at }: { at: string | null | undefined }) =>
  at ? (
    <time dateTime={at} className="whitespace-nowrap">
      {absoluteTime(at)}
    </time>
  ) : (
    dash
  );
