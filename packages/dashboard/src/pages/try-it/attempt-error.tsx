import { isApiError, PaymentRefusedError } from '@agent-network/sdk';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { Button } from '../../ui/controls/button.tsx';
import { ErrorNote } from '../../ui/values/error-note.tsx';
import { linkClass } from '../../ui/values/link.tsx';

interface AttemptErrorProps {
  readonly error: unknown;
  readonly isUnclear: boolean;
  readonly isBusy: boolean;
  readonly onAgain: () => void;
  readonly onGiveUp: () => void;
}

/** Reason of a failed call, whether anything was paid, and the next step. */
export function AttemptError({ error, isUnclear, isBusy, onAgain, onGiveUp }: AttemptErrorProps) {
  return (
    <div className="space-y-3">
      <ErrorNote error={error} />
      {!isUnclear && <Hint error={error} />}
      {isUnclear && (
        <>
          <p className="text-muted">
            It isn't known whether the call was made. Retrying uses the same key and the same payment, so nothing is
            paid twice.
          </p>
          <div className="flex flex-wrap gap-2">
            <Button variant="primary" icon="refresh" isBusy={isBusy} onClick={onAgain}>
              Retry the same call
            </Button>
            <Button disabled={isBusy} onClick={onGiveUp}>
              Give up
            </Button>
          </div>
        </>
      )}
    </div>
  );
}

/** Remedy by error. Nothing was paid in any of these cases. */
function Hint({ error }: { error: unknown }): ReactNode {
  if (error instanceof PaymentRefusedError)
    return <p className="text-muted">The node's payment terms differ from the quote. Nothing was signed or paid.</p>;
  if (isApiError(error, 'INSUFFICIENT_FUNDS'))
    return (
      <p className="text-muted">
        The treasury has {error.extra.details.available} USDC and the call needs {error.extra.details.required}. Add
        funds, or pay with a wallet. Nothing was paid.
      </p>
    );
  if (isApiError(error, 'PAYMENT_REQUIRED'))
    return <p className="text-muted">The payment was refused, and nothing was paid.</p>;
  if (isApiError(error, 'AGENT_UNAVAILABLE') && error.extra.alternatives.length > 0)
    return (
      <p className="text-muted">
        Nothing was paid. These agents can do it instead:{' '}
        {error.extra.alternatives.map(({ agentId }, at) => (
          <span key={agentId}>
            {at > 0 && ', '}
            <Link to="/explore/$agentId" params={{ agentId }} search={{ tab: 'try' }} className={linkClass}>
              {agentId}
            </Link>
          </span>
        ))}
      </p>
    );
  return null;
}
