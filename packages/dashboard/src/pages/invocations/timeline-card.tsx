import { Copyable } from '../../ui/controls/copyable.tsx';
import { Card } from '../../ui/layout/card.tsx';
import { Timeline } from '../../ui/layout/timeline.tsx';
import type { DetailedRecord } from './invocation.ts';
import { type Step, timelineOf } from './invocation-timeline.ts';

const StepDetail = ({ text, transactionHash }: Step) => (
  <>
    {text && <p className="max-h-40 overflow-y-auto">{text}</p>}
    {transactionHash && <Copyable label="transaction hash" text={transactionHash} short />}
  </>
);

export const TimelineCard = ({ record }: { record: DetailedRecord }) => (
  <Card title="Timeline">
    <Timeline
      label="Timeline"
      entries={timelineOf(record).map((step) => ({
        title: step.title,
        at: step.at,
        tone: step.tone,
        detail: (step.text || step.transactionHash) && <StepDetail {...step} />,
      }))}
    />
  </Card>
);
