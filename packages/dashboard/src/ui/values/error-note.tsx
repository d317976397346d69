import { isApiError } from '@agent-network/sdk';
import { Button } from '../controls/button.tsx';
import { Copyable } from '../controls/copyable.tsx';
import { Icon } from './icon.tsx';

interface ErrorNoteProps {
  readonly error: unknown;
  readonly title?: string;
  readonly onRetry?: (() => void) | undefined;
}

/** An error in the words of the API: code, message and the request id that finds the cause in the node's log. */
export function ErrorNote({ error, title, onRetry }: ErrorNoteProps) {
  if (!error) return null;
  const message = error instanceof Error ? error.message : String(error);
  return (
    <div role="alert" className="flex gap-3 rounded-md border border-bad/40 bg-bad-soft p-3">
      <Icon name="alert" className="mt-0.5 size-4 text-bad" />
      <div className="min-w-0 flex-1 space-y-1">
        {title && <p className="font-semibold">{title}</p>}
        <p className="wrap-anywhere">{message}</p>
        {isApiError(error) && (
          <p className="flex flex-wrap gap-x-3 text-[13px] text-muted">
            <code>{error.code}</code>
            {error.requestId && <Copyable label="request id" text={error.requestId} />}
          </p>
        )}
      </div>
      {onRetry && (
        <Button size="sm" icon="refresh" onClick={onRetry}>
          Try again
        </Button>
      )}
    </div>
  );
}
