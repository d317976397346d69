import type { PlainTransfer } from './bank-chain.ts';
import type { BankClient } from './bank-world.ts';

/** An authorization that a client signed. */
export interface SignedPayment {
  readonly from: string;
  readonly nonce: string;
  readonly valueMicro: bigint;
}

/** A purchase as its client knows it. */
export interface Deal {
  /** Goes with the request in its metadata, and so is seen by the agent and kept in the database. */
  readonly mark: string;
  readonly kind: 'treasury' | 'x402' | 'channel' | 'keyless' | 'agent to agent' | 'bulk';
  /** Reads the request; empty: it was made without a key. */
  readonly key: string;
  /** Reads a request that was made without a key. */
  resultToken?: string;
  /** Signed payment, if there is one. */
  payment?: SignedPayment;
  /** Every id that it was given for this purchase: there has to be one. */
  readonly ids: Set<string>;
  /** Whether any answer was a 402 to a request that showed the payment. */
  wasToldToPay: boolean;
  readonly requests: number;
}

export interface Deposit {
  readonly client: BankClient;
  readonly payment: SignedPayment;
  outcome: 'credited' | 'refused' | 'unanswered';
  /** Answers to each attempt, in order. */
  told: string;
}

export interface Withdrawal {
  readonly client: BankClient;
  readonly to: string;
  readonly amountMicro: bigint;
  /** null: refused, or never answered. */
  id: string | null;
}

/** USDC that a client sent without asking first. */
export interface PlainDeposit {
  readonly client: BankClient;
  readonly transfer: PlainTransfer;
}

/** Everything that the clients did, as they know it. */
export interface BankBook {
  readonly deals: Deal[];
  readonly deposits: Deposit[];
  readonly withdrawals: Withdrawal[];
  readonly plain: PlainDeposit[];
}

export const newBook = (): BankBook => ({ deals: [], deposits: [], withdrawals: [], plain: [] });
