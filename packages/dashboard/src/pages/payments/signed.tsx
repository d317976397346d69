import { Money } from '../../ui/values/money.tsx';

interface SignedProps {
  /** null: no money moved. */
  readonly sign: '+' | '−' | null;
  readonly amount: string;
}

/** An amount that came in or went out. */
export const Signed = ({ sign, amount }: SignedProps) => (
  <span className={sign === '+' ? 'text-good' : sign === null ? 'text-muted' : undefined}>
    <Money amount={`${sign ?? ''}${amount}`} />
  </span>
);
