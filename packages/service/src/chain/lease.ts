/** Who looks after a key's open transaction, and until when others leave it alone (by the database's clock). */
export interface Lease {
  readonly holder: string;
  readonly leaseMs: number;
}

/** Longer than a bump takes to come, so that a living holder never loses it. */
export const LEASE_MS = 10_000;
