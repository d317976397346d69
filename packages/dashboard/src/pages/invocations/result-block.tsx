import type { RequestRecord } from '@agent-network/contracts/invocations/invocations';
import { useState } from 'react';
import { ScrollBox } from '../../ui/layout/scroll-box.tsx';
import { JsonBlock } from '../../ui/values/code-block.tsx';
import { Markdown } from '../../ui/values/markdown.tsx';
import { isMarkdown } from '../../ui/values/markdown-blocks.ts';
import { isOpen } from './invocation.ts';
import { ResultFiles } from './result-files.tsx';
import { filesOf, partsOf, type ResultParts } from './result-parts.ts';

/** The agent's result: its text, pictures and files, and all of it as JSON behind a switch. Markup in it is never interpreted. */
export function ResultBlock({ record }: { record: RequestRecord }) {
  const { result, status, requestId } = record;
  if (status !== 'completed') return <p className="text-muted">{isOpen(record) ? 'No result yet.' : 'No result.'}</p>;
  const files = filesOf(result);
  return (
    <div className="space-y-4">
      {files.length > 0 && <ResultFiles requestId={requestId} files={files} />}
      <ResultValue result={result} />
    </div>
  );
}

function ResultValue({ result }: { result: unknown }) {
  const [isRaw, setRaw] = useState(false);
  const parts = partsOf(result);
  const hasParts = parts.text !== null || parts.images.length > 0;
  if (!hasParts) return <JsonBlock label="Result" value={result} />;
  const isPlain = typeof result === 'string' && parts.images.length === 0 && !isMarkdown(result);
  return (
    <div className="space-y-3">
      {isRaw ? <Raw result={result} /> : <Readable {...parts} />}
      {!isPlain && (
        <button
          type="button"
          aria-pressed={isRaw}
          onClick={() => setRaw(!isRaw)}
          className="text-[13px] text-muted hover:text-text"
        >
          {isRaw ? 'Show formatted' : typeof result === 'string' ? 'Show as text' : 'Show as JSON'}
        </button>
      )}
    </div>
  );
}

const Readable = ({ text, images }: ResultParts) => (
  <>
    {text !== null && (
      <ScrollBox label="Result text">{isMarkdown(text) ? <Markdown text={text} /> : <Plain text={text} />}</ScrollBox>
    )}
    {[...new Set(images)].map((address, at) => (
      <img
        key={address}
        src={address}
        alt={`Result ${at + 1}`}
        className="max-h-96 max-w-full rounded-md border border-line"
      />
    ))}
  </>
);

const Raw = ({ result }: { result: unknown }) =>
  typeof result === 'string' ? (
    <ScrollBox label="Result text">
      <Plain text={result} />
    </ScrollBox>
  ) : (
    <JsonBlock label="Result" value={result} />
  );

const Plain = ({ text }: { text: string }) => (
  <p dir="auto" className="wrap-anywhere whitespace-pre-wrap">
    {text}
  </p>
);
