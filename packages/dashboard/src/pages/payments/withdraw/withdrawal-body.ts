import type { WithdrawalWish } from './use-withdrawal.ts';

/** The form of a withdrawal: everything as it is typed. */
export interface WithdrawalValues {
  readonly amount: string;
  readonly treasuryId: string;
  /** '': the wallet of the account. */
  readonly to: string;
  readonly isOfFees: boolean;
}

/** Maps the form to a body of the API; empty fields are left out. */
export const withdrawalBody = ({ amount, treasuryId, to, isOfFees }: WithdrawalValues): WithdrawalWish => ({
  amount: amount.trim(),
  treasuryId,
  ...(to.trim() ? { to: to.trim() } : {}),
  ...(isOfFees ? { from: 'fees' as const } : {}),
});
