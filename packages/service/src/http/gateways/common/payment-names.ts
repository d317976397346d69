/** The fields of a payment that name its wallet, before anything is checked. */
interface NamesWallet {
  readonly payload?: {
    readonly authorization?: { readonly from?: unknown };
    readonly channelConfig?: { readonly payer?: unknown };
    readonly voucher?: { readonly channelId?: unknown };
  };
}

/** The sending wallet of a payment; null: none, as in a voucher. */
export const senderIn = (payment: unknown): string | null =>
  hexOf((payment as NamesWallet | null)?.payload?.authorization?.from);

/** The wallet that a payment or a voucher names. */
export const walletIn = (payment: unknown): string | null =>
  senderIn(payment) ?? hexOf((payment as NamesWallet | null)?.payload?.channelConfig?.payer);

/** The channel that a voucher names; null: none. */
export const channelIn = (payment: unknown): string | null =>
  hexOf((payment as NamesWallet | null)?.payload?.voucher?.channelId);

const hexOf = (value: unknown): string | null => (typeof value === 'string' ? value.toLowerCase() : null);
