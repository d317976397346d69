import type { Request } from './http-connection.ts';
import type { Measurement, MeasureOptions } from './measure.ts';

/** A request and what its answer must be to count. */
export interface Question {
  readonly request: Request;
  readonly status: number;
  readonly includes: string;
}

/** Calls that are answered at once; callers take the questions in turn. */
export interface PlainJob extends MeasureOptions {
  readonly kind: 'plain';
  readonly questions: readonly Question[];
}

/** x402 calls: unpaid, then once more with a payment of these wallets. */
export interface PaidJob extends MeasureOptions {
  readonly kind: 'paid';
  readonly request: Request;
  readonly includes: string;
  readonly payerKeys: readonly `0x${string}`[];
}

export type LoadJob = PlainJob | PaidJob;

export interface LoadResult extends Measurement {
  /** What the stock client spends on one signature, on the payer's machine; no part of the other figures. */
  readonly signMs?: number;
}

export type LoadAnswer = { readonly result: LoadResult } | { readonly error: string };
