import type { SchemeId } from './scheme-id.ts';

export interface HoldRequest {
  readonly id: string;
  /** null: it is held for a withdrawal. */
  readonly scheme: SchemeId | null;
  readonly ledgerAccountId: string;
  readonly amountMicro: bigint;
  /** Latest end of the hold; one that is still open after this was leaked. */
  readonly expiresAt: Date;
}

/** A hold for a request, which its scheme places. */
export interface RequestHold extends HoldRequest {
  readonly scheme: SchemeId;
}

export interface HoldAnswer {
  readonly isHeld: boolean;
  readonly availableMicro: bigint;
}

export interface HoldEnd {
  readonly id: string;
  /** The part that is spent; the rest is released. */
  readonly captureMicro: bigint;
  /** Ledger account that receives the captured amount. */
  readonly creditId: string;
  /** The node's fee, a part of the captured amount. */
  readonly feeMicro: bigint;
}

/** Time after the request's deadline until which its hold may stay open; a late request ends within seconds. */
const MARGIN_MS = 15 * 60_000;

/** Latest end of the hold of a request with this deadline. */
export const holdExpiryOf = (deadline: Date): Date => new Date(deadline.getTime() + MARGIN_MS);
