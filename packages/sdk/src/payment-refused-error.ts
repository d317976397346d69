export type RefusalReason = 'malformed_terms' | 'unknown_asset' | 'validity_too_long' | 'above_cap';

/** The payer declined the terms before signing anything: no money can move. */
export class PaymentRefusedError extends Error {
  override readonly name = 'PaymentRefusedError';
  readonly reason: RefusalReason;

  constructor(reason: RefusalReason, message: string) {
    super(message);
    this.reason = reason;
  }
}
