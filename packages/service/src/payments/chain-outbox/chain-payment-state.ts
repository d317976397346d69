import { type StateTable, statesThatTake } from '../../lib/state-table.ts';

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
export type ChainPaymentState = 'claimed' | 'broadcasting' | 'settled' | 'failed' | 'reversed';

/** `bookLate`: a payment was found on chain after it had failed here, or while it was still open. */
export type ChainPaymentEvent = 'broadcast' | 'settle' | 'bookLate' | 'fail' | 'reverse';

/** The state machine of a payment on chain. One that settled and was lost to a reorg is sent again without a change of its state. */
export const chainPaymentTransitions: StateTable<ChainPaymentState, ChainPaymentEvent> = {
  claimed: { broadcast: 'broadcasting', settle: 'settled', bookLate: 'settled', fail: 'failed', reverse: 'illegal' },
  broadcasting: {
    broadcast: 'broadcasting',
    settle: 'settled',
    bookLate: 'settled',
    fail: 'failed',
    reverse: 'illegal',
  },
  settled: { broadcast: 'ignored', settle: 'ignored', bookLate: 'ignored', fail: 'ignored', reverse: 'reversed' },
  failed: { broadcast: 'ignored', settle: 'ignored', bookLate: 'settled', fail: 'ignored', reverse: 'illegal' },
  reversed: { broadcast: 'ignored', settle: 'ignored', bookLate: 'ignored', fail: 'ignored', reverse: 'ignored' },
};

export const paymentStatesThatTake = (event: ChainPaymentEvent): ChainPaymentState[] =>
  statesThatTake(chainPaymentTransitions, event);

/** True until the payment has reached a final state. */
export const isOpen = (state: ChainPaymentState): boolean => paymentStatesThatTake('fail').includes(state);
