import type { ChainAccess } from '../../../chain/chain-access.ts';
import { createBatcher } from '../../../lib/concurrency/batcher.ts';
import type { Store } from '../../../store/database.ts';
import type { ChainPayment } from '../../chain-outbox/chain-payment.ts';
import { findByNames, type PaymentNames } from '../../chain-outbox/chain-payment-store.ts';
import { type ContractPayers, createContractPayers } from '../../settlement/contract-payers.ts';
import { createSimulator, type PaymentSimulator } from '../../settlement/payment-simulator.ts';
import type { X402Scheme } from '../../x402/x402-scheme.ts';
import { createSignatureChecker, type SignatureChecker } from './check-signature.ts';
import { createPayerStatus, type PayerStatus } from './payer-status.ts';

/** Reading and checks of a payment that a client shows: was it shown before, is it signed, can its payer pay, would it settle. */
export interface PaymentChecks {
  readonly paymentFinder: PaymentFinder;
  readonly contractPayers: ContractPayers;
  readonly simulator: PaymentSimulator;
  /** The schemes of x402 that this node takes, in the order of a 402. */
  readonly x402Schemes: readonly X402Scheme[];
  readonly payerStatus: PayerStatus;
  readonly signatureChecker: SignatureChecker;
}

export const createPaymentChecks = (needs: Store & ChainAccess, x402Schemes: readonly X402Scheme[]): PaymentChecks => ({
  x402Schemes,
  paymentFinder: createPaymentFinder(needs),
  signatureChecker: createSignatureChecker(needs),
  payerStatus: createPayerStatus(needs),
  contractPayers: createContractPayers(needs),
  simulator: createSimulator(needs),
});

/** Finds the payments of concurrent requests with one query. */
interface PaymentFinder {
  find(names: PaymentNames): Promise<ChainPayment | null>;
}

const MAX_FOUND = 200;

function createPaymentFinder(ctx: Store): PaymentFinder {
  const batcher = createBatcher<PaymentNames, ChainPayment | null>({
    maxSize: MAX_FOUND,
    run: (names) => findByNames(ctx.db, names),
  });
  return { find: (names) => batcher.add(names) };
}
