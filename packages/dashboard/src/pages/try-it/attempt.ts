import { isApiError, NoAnswerError } from '@agent-network/sdk';
import type { WalletPayer } from '../../wallet/open-wallet-payer.ts';
import type { CallBody, Mode } from './call-values.ts';

/** One call that is made at most once, however often it is tried: the same key, the same body, the same payment. */
export interface Attempt {
  readonly key: string;
  readonly agentId: string;
  readonly body: CallBody;
  readonly quoteId: string;
  readonly mode: Mode;
  /** Pays by wallet; null: the treasury does, or there is nothing to pay. */
  readonly payer: WalletPayer | null;
  readonly isFree: boolean;
}

const passing = ['PAYMENT_PENDING', 'UNAVAILABLE', 'INTERNAL_ERROR', 'RATE_LIMITED'] as const;

/** Whether the call may have been made, or be made yet: then the same attempt is tried again, never a new one. */
export function isUnclear(error: unknown): boolean {
  if (error instanceof NoAnswerError) return true;
  if (isApiError(error, 'CONFLICT')) return error.retryAfterS !== undefined;
  return passing.some((code) => isApiError(error, code));
}
