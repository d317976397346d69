import type { RequestRecord } from '@agent-network/contracts/invocations';
import { JsonBlock } from '../../ui/code-block.tsx';

/** What the agent gave. A text is shown as a text, and nothing in it is taken for markup. */
export function ResultBlock({ record }: { record: RequestRecord }) {
  const { result, status } = record;
  if (status !== 'completed') return <p className="text-muted">There is none: the invocation is {status}.</p>;
  if (typeof result === 'string')
    return <p className="max-h-120 overflow-y-auto wrap-anywhere whitespace-pre-wrap">{result}</p>;
  return <JsonBlock label="Result" value={result} />;
}
