/** The smallest amounts, which tests of exactness move on chain; the limits have tests of their own. */
export const SMALLEST = { MIN_PAYMENT: '0.000001', MIN_DEPOSIT: '0.000001', MIN_WITHDRAWAL: '0.000001' };
