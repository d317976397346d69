import { Icon } from '../values/icon.tsx';
import { useCopy } from './copy-text.ts';

interface CopyableProps {
  readonly text: string;
  /** Kind of the value: "request id". */
  readonly label: string;
  /** Shown in its place: the start and the end of long ones. */
  readonly short?: boolean;
}

const shorten = (text: string) => (text.length > 16 ? `${text.slice(0, 8)}…${text.slice(-4)}` : text);

/** An id, address or hash that a click copies. */
export function Copyable({ text, label, short = false }: CopyableProps) {
  const { isCopied, copy } = useCopy();
  const shown = short ? shorten(text) : text;
  return (
    <button
      type="button"
      onClick={() => copy(text)}
      title={short ? text : undefined}
      aria-label={`Copy ${label} ${shown}`}
      className="group relative z-10 inline-flex max-w-full items-center gap-1 rounded-sm font-mono text-[13px] hover:text-accent-text"
    >
      <span className="truncate">{shown}</span>
      <Icon
        name={isCopied ? 'check' : 'copy'}
        className={`size-3.5 ${isCopied ? 'text-good' : 'text-muted opacity-60 group-hover:opacity-100'}`}
      />
      <span role="status" className="sr-only">
        {isCopied ? 'Copied' : ''}
      </span>
    </button>
  );
}
