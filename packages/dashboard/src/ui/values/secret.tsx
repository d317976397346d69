import { Button } from '../controls/button.tsx';
import { useCopy } from '../controls/copy-text.ts';
import { Warning } from './note.tsx';

interface SecretProps {
  readonly value: string;
  readonly label: string;
  /** True if the node can show the secret again. */
  readonly isShownAgain?: boolean;
}

/** A secret to copy, with a warning if the node shows it only once. */
export function Secret({ value, label, isShownAgain = false }: SecretProps) {
  const { isCopied, copy } = useCopy();
  return (
    <div className="space-y-2">
      {!isShownAgain && <Warning>Copy it now. It won't be shown again.</Warning>}
      <div className="flex items-center gap-2">
        <input
          readOnly
          value={value}
          aria-label={label}
          onFocus={(event) => event.target.select()}
          className="h-9 min-w-0 flex-1 rounded-md border border-line bg-sunken px-2.5 font-mono text-[13px]"
        />
        <Button icon={isCopied ? 'check' : 'copy'} onClick={() => copy(value)}>
          {isCopied ? 'Copied' : 'Copy'}
        </Button>
      </div>
    </div>
  );
}
