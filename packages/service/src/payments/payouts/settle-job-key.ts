/** The key of the job that sends a payment: a payment has one, added in the transaction that signs it. */
export const settleJobKey = (paymentId: string): string => `settle-payment:${paymentId}`;
