import type { Authorization } from './authorization.ts';

export type ChainPaymentState = 'claimed' | 'broadcasting' | 'settled' | 'failed';
export type ChainPurpose = 'invocation' | 'deposit' | 'refund' | 'withdrawal';

export interface NewChainPayment {
  readonly id: string;
  readonly chainId: number;
  readonly token: string;
  readonly direction: 'in' | 'out';
  readonly purpose: ChainPurpose;
  readonly subjectId: string;
  readonly accountId: string | null;
  readonly ledgerAccountId: string;
  readonly authorization: Authorization;
  readonly signature: string;
  readonly fingerprint: Buffer | null;
  readonly x402Version: 1 | 2 | null;
}

export interface ChainPayment extends NewChainPayment {
  readonly state: ChainPaymentState;
  readonly reason: string | null;
  readonly transactionHash: string | null;
  readonly createdAt: Date;
}
