/** The holder of a key's open transaction, and the expiry until which others leave it alone (by the database's clock). */
export interface Lease {
  readonly holder: string;
  readonly leaseMs: number;
}

/** Longer than the interval between fee bumps, so that a live holder never loses its lease. */
export const LEASE_MS = 10_000;
