/**
 * Stored states of a claim, a transaction that claims vouchers or refunds a channel.
 * - `sent`: its bytes are stored; it may be pending, or mined and not read yet. Unknown is not failed: it stays `sent` until the chain says
 *   otherwise.
 * - `done`: it is in a block and booked. A reorg makes it `sent` again.
 * - `failed`: it reverted, or another transaction used its nonce. It claimed nothing; another transaction claims its vouchers.
 */
export const claimStates = ['sent', 'done', 'failed'] as const;
export type ClaimState = (typeof claimStates)[number];

/** State of a claim's transaction. `moved`: a block has it, but not the one that was recorded. */
export type ClaimSight = 'open' | 'mined' | 'reverted' | 'given up' | 'moved';

export const claimTransitions: Readonly<Record<ClaimState, Readonly<Record<ClaimSight, ClaimState>>>> = {
  sent: { open: 'sent', mined: 'done', reverted: 'failed', 'given up': 'failed', moved: 'sent' },
  done: { open: 'sent', mined: 'done', reverted: 'sent', 'given up': 'sent', moved: 'sent' },
  failed: { open: 'sent', mined: 'sent', reverted: 'failed', 'given up': 'failed', moved: 'sent' },
};

/** The state of a claim after its transaction was seen so. */
export const nextClaimState = (from: ClaimState, sight: ClaimSight): ClaimState => claimTransitions[from][sight];
