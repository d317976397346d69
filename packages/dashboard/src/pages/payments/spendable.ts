import { parseUsdc } from '@agent-network/contracts/money';
import type { Balance } from '@agent-network/contracts/payments/payments';

type Spendable = Balance['spendable'];

/** The reason for which a call cannot be paid from the treasury. */
export interface Lack {
  readonly reason: Spendable['limitedBy'];
  readonly text: string;
}

const texts: Readonly<Record<Spendable['limitedBy'], (spendable: Spendable, price: string) => string>> = {
  funds: ({ perCall }, price) => `Your treasury can spend ${perCall} USDC, and this call needs ${price}.`,
  per_call: ({ perCall }, price) => `Your key may spend ${perCall} USDC on a call, and this one needs ${price}.`,
  per_day: ({ perCall }, price) => `Your key may spend ${perCall} USDC more today, and this call needs ${price}.`,
  plan: () => 'Your plan has no calls left in this hour.',
  scope: () => 'Your key may not make calls.',
  frozen: () => 'The treasury is frozen.',
};

/** null: a call of this price can be made. */
export function lackOf(spendable: Spendable, price: string): Lack | null {
  const { limitedBy, perCall, callsLeft } = spendable;
  const isRefused = limitedBy === 'plan' || limitedBy === 'scope' || callsLeft === 0;
  if (!isRefused && parseUsdc(perCall) >= parseUsdc(price)) return null;
  const reason = callsLeft === 0 ? 'plan' : limitedBy;
  return { reason, text: texts[reason](spendable, price) };
}

const isPositive = (amount: string): boolean => parseUsdc(amount) > 0n;

/** True if there are earnings that could pay for calls once they are collected. */
export const hasEarnings = (balance: Pick<Balance, 'earnings'> | undefined): boolean =>
  balance !== undefined && isPositive(balance.earnings);

/** Text that explains which limit applies to the spendable amount. */
export const boundText = ({ limitedBy, callsLeft, perCall }: Spendable): string =>
  ({
    funds: 'on calls, from the treasury',
    per_call: `at most ${perCall} per call`,
    per_day: "the key's limit per day",
    plan: 'no calls left this hour',
    scope: 'the key may not make calls',
    frozen: 'the treasury is frozen',
  })[callsLeft === 0 ? 'plan' : limitedBy];
