import type { RequestRecord } from '@agent-network/contracts/invocations/invocations';
import { percentText } from '../../ui/values/percent.ts';

/** The agent's report on its work while it runs; nothing without one. */
export function AgentProgress({
  record: { status, progress },
}: {
  record: Pick<RequestRecord, 'status' | 'progress'>;
}) {
  if (!progress || status !== 'processing') return null;
  const { fraction, message } = progress;
  return (
    <div className="space-y-1" role="status">
      {fraction !== undefined && (
        <progress className="h-2 w-full accent-accent" max={1} value={fraction} aria-label="Progress of the agent">
          {percentText(fraction)}
        </progress>
      )}
      <p dir="auto" className="text-[13px] wrap-anywhere text-muted">
        {fraction !== undefined && <span className="font-medium text-text">{percentText(fraction)}</span>} {message}
      </p>
    </div>
  );
}
