import type { WalletPayer } from '../../wallet/wallet-payer.ts';
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
