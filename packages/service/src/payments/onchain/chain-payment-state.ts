/**
 * The states of a payment on chain, as stored.
 *
 * - `claimed`: verified, and taken for exactly one thing; no transaction carries it yet.
 * - `broadcasting`: a transaction with it was written down and may be on its way, or is in a block that is not deep enough. Past its
 *   time it is what others call unknown, which is not failed: the reconciler asks the chain until it knows.
 * - `settled`: its money moved, in a block as deep as the amount asks for; the ledger has it.
 * - `failed`: nothing moved when we looked. An incoming one is watched until it expires, as anybody may still submit it.
 * - `reversed`: it had settled, a reorg took its block, and it can never be collected again; the ledger took it back.
 */
export const chainPaymentStates = ['claimed', 'broadcasting', 'settled', 'failed', 'reversed'] as const;
export type ChainPaymentState = (typeof chainPaymentStates)[number];

/** Where a payment may go from each state. */
const nextStates: Readonly<Record<ChainPaymentState, readonly ChainPaymentState[]>> = {
  claimed: ['broadcasting', 'settled', 'failed'],
  broadcasting: ['broadcasting', 'settled', 'failed'],
  settled: ['reversed'],
  failed: ['settled'],
  reversed: [],
};

export const canMove = (from: ChainPaymentState, to: ChainPaymentState): boolean => nextStates[from].includes(to);

/** The states from which a payment may come into this one: what a compare-and-set compares with. */
export const statesBefore = (to: ChainPaymentState): ChainPaymentState[] =>
  chainPaymentStates.filter((from) => canMove(from, to));

/** Whether the payment still has to come to its end. */
export const isOpen = (state: ChainPaymentState): boolean => canMove(state, 'failed');
