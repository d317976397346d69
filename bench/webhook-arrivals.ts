/** Messages to the process that receives webhooks. */
export type ReceiverTask =
  /** Clear the counts. `secrets`: signing secrets by path. */
  | { readonly kind: 'begin'; readonly secrets: Record<string, string> }
  /** Answer when so many different deliveries have come, or none come any more. */
  | { readonly kind: 'await'; readonly expected: number; readonly timeoutMs: number };

/** The received deliveries, with their delays since the event. */
export interface Arrivals {
  /** Number of distinct deliveries with a valid signature. */
  readonly arrived: number;
  /** Deliveries that came more than once; a receiver drops them by their id. */
  readonly repeated: number;
  /** Deliveries with a wrong signature. */
  readonly refused: number;
  readonly perSecond: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
}
