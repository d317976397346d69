import { useState } from 'react';
import { IconButton } from '../controls/button.tsx';
import { useCopy } from '../controls/copy-text.ts';

export interface CodeSample {
  /** "curl", "SDK". */
  readonly label: string;
  readonly code: string;
}

/** Code to copy; one sample, or several behind tabs. */
export function CodeBlock({ samples, label }: { samples: readonly CodeSample[]; label?: string }) {
  const [index, setIndex] = useState(0);
  const { isCopied, copy } = useCopy();
  const shown = samples[index] ?? samples[0];
  if (!shown) return null;
  return (
    <div className="min-w-0 overflow-hidden rounded-md border border-line bg-sunken">
      <div className="flex items-start justify-between gap-2 border-b border-line pl-3">
        <div className="flex min-w-0 flex-wrap gap-x-3">
          {samples.length === 1 ? (
            <span className="py-1.5 text-xs text-muted">{shown.label}</span>
          ) : (
            samples.map((sample, at) => (
              <button
                key={sample.label}
                type="button"
                aria-pressed={at === index}
                onClick={() => setIndex(at)}
                className="border-b-2 border-transparent py-1.5 text-xs text-muted aria-pressed:border-accent aria-pressed:text-text"
              >
                {sample.label}
              </button>
            ))
          )}
        </div>
        <IconButton
          size="sm"
          icon={isCopied ? 'check' : 'copy'}
          label={isCopied ? 'Copied' : `Copy ${label ?? shown.label}`}
          onClick={() => copy(shown.code)}
        />
      </div>
      <section
        tabIndex={0}
        aria-label={label ? `${label}, ${shown.label}` : shown.label}
        className="max-h-96 overflow-auto"
      >
        <pre className="p-3 font-mono text-[13px] leading-5">{shown.code}</pre>
      </section>
    </div>
  );
}

/** A JSON value, as the API has it. */
export const JsonBlock = ({ value, label }: { value: unknown; label: string }) => (
  <CodeBlock label={label} samples={[{ label: 'JSON', code: JSON.stringify(value, null, 2) ?? 'null' }]} />
);
