export type RefusalReason =
  | 'malformed_terms'
  | 'unknown_asset'
  | 'validity_too_long'
  | 'above_cap'
  /** The payer's `maxTotal` does not cover the call. */
  | 'above_total'
  /** The channel needs a larger deposit than is allowed. */
  | 'deposit_above_cap'
  /**
   * A signed deposit may still be collected, and is too small for this call, about to expire, or denied by the node that reported it as
   * accepted.
   */
  | 'deposit_unsettled'
  /** The terms changed while a channel under the old ones holds money. */
  | 'other_channel_open'
  /** The node counts more in the channel than the payer's own calls may have cost. */
  | 'unexplained_sum';

/** The payer declined the terms before signing anything for them: no money can move. */
export class PaymentRefusedError extends Error {
  override readonly name = 'PaymentRefusedError';
  readonly reason: RefusalReason;

  constructor(reason: RefusalReason, message: string) {
    super(message);
    this.reason = reason;
  }
}
