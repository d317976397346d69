import { dash } from './dash.tsx';
/** "1234567.5" becomes "1,234,567.5": digits are only grouped, never rounded. */
export function groupDigits(amount: string | number): string {
  const [whole = '0', fraction] = String(amount).split('.');
  const grouped = whole.replace(/\B(?=(\d{3})+$)/g, ',');
  return fraction === undefined ? grouped : `${grouped}.${fraction}`;
}

/** Limits from here on only guard against accidents. */
const NO_LIMIT_FROM = 100_000_000;

/** "13 of 1,000", or "13 (no limit)". */
export const usedText = (used: number, limit: number | null): string =>
  `${groupDigits(used)} ${limit === null || limit >= NO_LIMIT_FROM ? '(no limit)' : `of ${groupDigits(limit)}`}`;

/** A price as text: "0.05 USDC", or "Free". */
export const priceText = (amount: string): string => (Number(amount) === 0 ? 'Free' : `${groupDigits(amount)} USDC`);

/** An amount as the API has it; null: a dash. `unit`: symbol of its token. */
export const Money = ({ amount, unit = 'USDC' }: { amount: string | null | undefined; unit?: string | undefined }) =>
  amount === null || amount === undefined ? (
    dash
  ) : (
    <span className="whitespace-nowrap">
      {groupDigits(amount)} <span className="text-[0.85em] font-normal text-muted">{unit}</span>
    </span>
  );
