import type { RequestRecord } from '@agent-network/contracts/invocations/invocations';
import { ScrollBox } from '../../ui/layout/scroll-box.tsx';
import { JsonBlock } from '../../ui/values/code-block.tsx';
import { isOpen } from './invocation.ts';

/** The agent's result. Text is shown as text; markup in it is not interpreted. */
export function ResultBlock({ record }: { record: RequestRecord }) {
  const { result, status } = record;
  if (status !== 'completed') return <p className="text-muted">{isOpen(record) ? 'No result yet.' : 'No result.'}</p>;
  if (typeof result === 'string')
    return (
      <ScrollBox label="Result text">
        <p dir="auto" className="wrap-anywhere whitespace-pre-wrap">
          {result}
        </p>
      </ScrollBox>
    );
  return <JsonBlock label="Result" value={result} />;
}
