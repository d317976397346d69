/** The key of the job that sends a payment; the transaction that signs the payment adds it. */
export const settleJobKey = (paymentId: string): string => `settle-payment:${paymentId}`;
