import { Link } from '@tanstack/react-router';
import { dash } from '../../ui/values/dash.tsx';
import { linkClass } from '../../ui/values/link.tsx';

interface MovementLinkProps {
  readonly requestId: string | null;
  readonly withdrawalId: string | null;
}

/** The call or the withdrawal that a movement of money belongs to. */
export const MovementLink = ({ requestId, withdrawalId }: MovementLinkProps) => {
  if (withdrawalId !== null)
    return (
      <Link to="/payments/withdrawals/$withdrawalId" params={{ withdrawalId }} className={linkClass}>
        Withdrawal
      </Link>
    );
  if (requestId === null) return dash;
  return (
    <Link to="/invocations/$requestId" params={{ requestId }} className={linkClass}>
      Invocation
    </Link>
  );
};
