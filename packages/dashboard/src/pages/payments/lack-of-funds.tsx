import { Link } from '@tanstack/react-router';
import { useApi } from '../../app/api-query.ts';
import { linkClass } from '../../ui/values/link.tsx';
import { Warning } from '../../ui/values/note.tsx';
import { AddTestFunds } from './add-test-funds.tsx';
import { type Lack, lackOf } from './spendable.ts';

/** Spendable amount of this session's treasury, and the shortfall for a call of this price; nothing while unknown. */
export function useSpendable(price: string) {
  const { data } = useApi('getBalance');
  const spendable = data?.spendable;
  return { spendable, lack: spendable ? lackOf(spendable, price) : null };
}

/** The reason for which the button is disabled, with its remedy. */
export const LackOfFunds = ({ lack }: { lack: Lack | null }) =>
  lack && (
    <div className="space-y-2">
      <Warning>
        {lack.text}{' '}
        {lack.reason === 'funds' && (
          <Link to="/payments" className={`${linkClass} underline`}>
            Add funds
          </Link>
        )}
      </Warning>
      {lack.reason === 'funds' && <AddTestFunds />}
    </div>
  );
