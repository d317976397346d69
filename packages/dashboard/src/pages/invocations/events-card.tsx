import { Card } from '../../ui/layout/card.tsx';
import { ScrollBox } from '../../ui/layout/scroll-box.tsx';
import { Badge } from '../../ui/values/badge.tsx';
import { ErrorNote } from '../../ui/values/error-note.tsx';
import { useStreamEvents } from './use-stream-events.ts';

const shortType = (type: string) => type.slice('invocation.'.length);

/** An invocation's events, live while it runs. */
export function EventsCard({ requestId }: { requestId: string }) {
  const { events, error, hasEnded } = useStreamEvents(requestId);
  return (
    <Card title="Events" actions={!hasEnded && !error && <Badge tone="accent">live</Badge>}>
      <ErrorNote error={error} />
      <ScrollBox label="Event stream">
        <ol className="space-y-1 text-[13px]">
          {events.map(({ id, type, data }) => (
            <li key={id} className="flex gap-3 max-sm:flex-col max-sm:gap-0">
              <span className="w-32 shrink-0 text-muted">
                {id} {shortType(type)}
              </span>
              <code className="min-w-0 flex-1 font-mono wrap-anywhere">{JSON.stringify(data)}</code>
            </li>
          ))}
        </ol>
      </ScrollBox>
    </Card>
  );
}
