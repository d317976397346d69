/**
 * States of a payment on chain, as stored.
 *
 * - `claimed`: verified and claimed for exactly one purchase; no transaction carries it yet.
 * - `broadcasting`: its transaction is written ahead; it may be pending, or mined and not deep enough. Past its time the outcome counts as
 *   unknown, which is not failed: the reconciler asks the chain until it is decided.
 * - `settled`: the money moved, in a block with the depth required for the amount; the ledger has it.
 * - `failed`: no money had moved at the last check. An incoming one is watched until it expires, as anybody may still submit it.
 * - `reversed`: it had settled, a reorg removed its block, and it can never be collected again; the ledger reversed it.
 */
export const chainPaymentStates = ['claimed', 'broadcasting', 'settled', 'failed', 'reversed'] as const;
export type ChainPaymentState = (typeof chainPaymentStates)[number];

/** Allowed transitions from each state. */
const nextStates: Readonly<Record<ChainPaymentState, readonly ChainPaymentState[]>> = {
  claimed: ['broadcasting', 'settled', 'failed'],
  broadcasting: ['broadcasting', 'settled', 'failed'],
  settled: ['reversed'],
  failed: ['settled'],
  reversed: [],
};

export const canMove = (from: ChainPaymentState, to: ChainPaymentState): boolean => nextStates[from].includes(to);

/** States from which a payment may enter this one; used for the compare-and-set. */
export const statesBefore = (to: ChainPaymentState): ChainPaymentState[] =>
  chainPaymentStates.filter((from) => canMove(from, to));

/** True until the payment has reached a final state. */
export const isOpen = (state: ChainPaymentState): boolean => canMove(state, 'failed');
