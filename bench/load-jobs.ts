import type { Request } from './http-connection.ts';
import type { Measurement, MeasureOptions } from './measure.ts';

/** In a request of a question: other characters in each call, as many. */
export const UNIQUE = 'UNIQUE-IN-EACH-CALL';

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

/** x402 calls by vouchers, each caller through a channel of its own. */
export interface ChannelJob extends MeasureOptions {
  readonly kind: 'channel';
  readonly request: Request;
  readonly includes: string;
  /** One for each caller. */
  readonly payerKeys: readonly `0x${string}`[];
  /** Decimal, as jobs go from process to process. */
  readonly depositMicro: string;
  /** One deposit after the other: the wallet of the peer mistakes the order of those that come together. */
  readonly depositsInTurn?: boolean;
  /** Ends when each channel has paid so many calls; else when the time is up. */
  readonly callsEach?: number;
}

/** Streams that are open at once, each read to its end. */
export interface StreamJob {
  readonly kind: 'streams';
  /** Starts a request with a streamed answer of this many chunks. */
  readonly request: Request;
  /** The file to make when all are open: then the agents begin to speak. */
  readonly gate?: string;
  readonly chunks: number;
  /** URL of a request's events, with `{requestId}`. */
  readonly eventsUrl: string;
  readonly streams: number;
  /** Number of streams per request. */
  readonly readersEach: number;
  /** Readers of a large stream that stop reading meanwhile. */
  readonly slow?: Pick<StreamJob, 'request' | 'chunks' | 'eventsUrl'> & { readonly readers: number };
}

export type LoadJob = PlainJob | PaidJob | ChannelJob | StreamJob;

export interface LoadResult extends Measurement {
  /** Time of the stock client for one signature, on the payer's machine; not part of the other figures. */
  readonly signMs?: number;
  /** Sum charged to channels, first calls included. */
  readonly chargedMicro?: string;
  /** For streams: the calls are events, and the times are those from the agent to the reader. */
  readonly streams?: { readonly openInMs: number; readonly droppedAndResumed: number };
}

export type LoadAnswer = { readonly result: LoadResult } | { readonly error: string };
