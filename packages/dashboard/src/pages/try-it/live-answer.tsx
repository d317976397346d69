import type { StreamEvent } from '@agent-network/sdk';
import { Badge } from '../../ui/values/badge.tsx';

const MAX_STEPS = 200;
const DETAIL_CHARS = 200;

const asText = (value: unknown): string => (typeof value === 'string' ? value : `${JSON.stringify(value)}\n`);

/** The joined pieces of the answer. Pieces that are not text are shown as JSON, one per line. */
export const said = (events: readonly StreamEvent[]): string =>
  events
    .filter((event) => event.type === 'invocation.chunk')
    .map(({ data: { requestId: _, chunk, ...rest } }) => asText(chunk === undefined ? rest : chunk))
    .join('');

/** The last events in a line each. */
export const stepsOf = (events: readonly StreamEvent[]) =>
  events.slice(-MAX_STEPS).map(({ id, type, data: { requestId: _, ...rest } }) => ({
    id,
    type: type.replace('invocation.', ''),
    detail: JSON.stringify(rest).slice(0, DETAIL_CHARS),
  }));

interface LiveAnswerProps {
  readonly events: readonly StreamEvent[];
  readonly isLive: boolean;
}

/** Output of the stream: the chunks as one text, and the agent's progress reports. */
export function LiveAnswer({ events, isLive }: LiveAnswerProps) {
  const text = said(events);
  return (
    <div className="space-y-3">
      {!isLive && text === '' ? null : (
        <section
          // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls has to be reached by keyboard
          tabIndex={0}
          aria-label="Live answer"
          aria-live="polite"
          aria-busy={isLive}
          className="max-h-96 min-h-16 overflow-y-auto rounded-md border border-line bg-sunken p-3"
        >
          <p dir="auto" className="wrap-anywhere whitespace-pre-wrap">
            {text === '' ? <span className="text-muted">The agent is working…</span> : text}
            {isLive && (
              <span aria-hidden="true" className="ml-0.5 inline-block h-4 w-1.5 animate-pulse bg-accent align-middle" />
            )}
          </p>
        </section>
      )}
      <details>
        <summary className="text-[13px] text-muted">
          {events.length} {events.length === 1 ? 'event' : 'events'}
        </summary>
        <ol aria-label="Events" className="mt-2 max-h-60 space-y-1 overflow-y-auto font-mono text-[13px]">
          {stepsOf(events).map(({ id, type, detail }) => (
            <li key={id} className="flex min-w-0 gap-2">
              <span className="w-8 shrink-0 text-right text-muted">{id}</span>
              <Badge>{type}</Badge>
              <span className="min-w-0 truncate text-muted">{detail}</span>
            </li>
          ))}
        </ol>
      </details>
    </div>
  );
}
