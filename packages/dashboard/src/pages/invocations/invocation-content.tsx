import { Card } from '../../ui/layout/card.tsx';
import { ScrollBox } from '../../ui/layout/scroll-box.tsx';
import { CodeBlock, JsonBlock } from '../../ui/values/code-block.tsx';
import { callSamples } from './call-samples.ts';
import { EventsCard } from './events-card.tsx';
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
