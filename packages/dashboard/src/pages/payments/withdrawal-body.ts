import type { WithdrawalWish } from './use-withdrawal.ts';

/** The form of a withdrawal: everything as it is typed. */
export interface WithdrawalValues {
  readonly amount: string;
  readonly treasuryId: string;
  /** '': the wallet of the account. */
  readonly to: string;
  readonly isOfFees: boolean;
}

/** What the form says as a body of the API: what was left empty is left out. */
export const withdrawalBody = ({ amount, treasuryId, to, isOfFees }: WithdrawalValues): WithdrawalWish => ({
  amount: amount.trim(),
  treasuryId,
  ...(to.trim() ? { to: to.trim() } : {}),
  ...(isOfFees ? { from: 'fees' as const } : {}),
});
