import type { StreamEvent } from '@agent-network/sdk';
import { useEffect, useState } from 'react';
import { client } from '../../app/client.ts';
import { Card } from '../../ui/layout/card.tsx';
import { ScrollBox } from '../../ui/layout/scroll-box.tsx';
import { Badge } from '../../ui/values/badge.tsx';
import { CodeBlock, JsonBlock } from '../../ui/values/code-block.tsx';
import { ErrorNote } from '../../ui/values/error-note.tsx';
import { callSamples } from './call-samples.ts';
import { type DetailedRecord, hasAny } from './invocation.ts';
import { ResultBlock } from './result-block.tsx';

const Text = ({ label, text }: { label: string; text: string }) => (
  <ScrollBox label={label}>
    <p dir="auto" className="wrap-anywhere whitespace-pre-wrap">
      {text}
    </p>
  </ScrollBox>
);

/** Task and result of an invocation. Strangers may have written all of it: it is shown as text. */
export function InvocationContent({ record }: { record: DetailedRecord }) {
  const { detail, metadata } = record;
  return (
    <div className="min-w-0 space-y-5">
      <Card title="Task">
        <Text label="Task text" text={record.task} />
      </Card>
      {hasAny(detail?.input) && (
        <Card title="Input">
          <JsonBlock label="Input" value={detail?.input} />
        </Card>
      )}
      {detail?.context && (
        <Card title="Context">
          <Text label="Context text" text={detail.context} />
        </Card>
      )}
      <Card title="Result">
        <ResultBlock record={record} />
      </Card>
      {detail?.streamed && <EventsCard requestId={record.requestId} />}
      {hasAny(metadata) && (
        <Card title="Metadata">
          <JsonBlock label="Metadata" value={metadata} />
        </Card>
      )}
      <Card title="Code for this call">
        <CodeBlock label="Code for this call" samples={callSamples(record, location.origin)} />
      </Card>
    </div>
  );
}

const shortType = (type: string) => type.slice('invocation.'.length);

/** An invocation's events, live while it runs. */
function EventsCard({ requestId }: { requestId: string }) {
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

/** A long stream is kept to its end. */
const MAX_KEPT = 500;
/** Events come faster than anyone reads; they are drawn this often. */
const DRAW_MS = 100;

interface StreamEvents {
  readonly events: readonly StreamEvent[];
  readonly error: unknown;
  readonly hasEnded: boolean;
}

/** The events of an invocation from its first, and on as they come. */
function useStreamEvents(requestId: string): StreamEvents {
  const [state, setState] = useState<StreamEvents>({ events: [], error: null, hasEnded: false });
  useEffect(() => {
    const leaving = new AbortController();
    let events: readonly StreamEvent[] = [];
    const draw = (more: Partial<StreamEvents> = {}) =>
      leaving.signal.aborted || setState((before) => ({ ...before, events, ...more }));
    const timer = setInterval(draw, DRAW_MS);
    const read = async () => {
      try {
        for await (const event of client.stream(requestId, { signal: leaving.signal }))
          events = [...events, event].slice(-MAX_KEPT);
        draw({ hasEnded: true });
      } catch (error) {
        draw({ error });
      } finally {
        clearInterval(timer);
      }
    };
    void read();
    return () => {
      leaving.abort();
      clearInterval(timer);
    };
  }, [requestId]);
  return state;
}
