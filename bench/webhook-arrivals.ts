/** What the process that receives webhooks is told. */
export type ReceiverTask =
  /** Forget what came; `secrets`: what each path's deliveries are signed with. */
  | { readonly kind: 'begin'; readonly secrets: Record<string, string> }
  /** Answer when so many different deliveries have come, or none come any more. */
  | { readonly kind: 'await'; readonly expected: number; readonly timeoutMs: number };

/** What came, and how long after its event. */
export interface Arrivals {
  /** Different deliveries whose signature was right. */
  readonly arrived: number;
  /** Those that came more than once; a receiver drops them by their id. */
  readonly repeated: number;
  /** Those whose signature was wrong. */
  readonly refused: number;
  readonly perSecond: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
}
