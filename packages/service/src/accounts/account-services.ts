import type { OwnerProofs } from './admit-wallet.ts';
import type { KeyWriter } from './idempotency/key-writer.ts';
import type { FreeCalls } from './limits/free-calls.ts';
import type { RateLimiter } from './limits/rate-limiter.ts';
/** Services of accounts: limits of calls, proofs of wallets, idempotency keys. */
export interface AccountServices {
  readonly rateLimiter: RateLimiter;
  readonly freeCalls: FreeCalls;
  readonly ownerProofs: OwnerProofs;
  readonly keyWriter: KeyWriter;
  /** Wallet of local mode's own account, in lower case; null when local sign-in is not available. */
  readonly localAccount: string | null;
}
