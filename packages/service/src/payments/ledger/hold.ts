export interface HoldRequest {
  readonly id: string;
  readonly ledgerAccountId: string;
  readonly amountMicro: bigint;
  /** When it must have ended: a hold that outlives this was forgotten. */
  readonly expiresAt: Date;
}

export interface HoldAnswer {
  readonly isHeld: boolean;
  readonly availableMicro: bigint;
}

export interface HoldEnd {
  readonly id: string;
  /** How much of the hold is spent; the rest is free again. */
  readonly captureMicro: bigint;
  /** Who gets what is spent. */
  readonly creditId: string;
  /** How much of that goes on to the node. */
  readonly feeMicro: bigint;
}

/** How long after the deadline of its request a hold may still be open: what ends late ends within seconds. */
const MARGIN_MS = 15 * 60_000;

/** When the hold of a request with this deadline must have ended. */
export const holdExpiryOf = (deadline: Date): Date => new Date(deadline.getTime() + MARGIN_MS);
