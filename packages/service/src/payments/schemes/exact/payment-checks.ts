import type { HasChain } from '../../../chain/chain-info.ts';
import type { HasUsdc } from '../../../chain/usdc-client.ts';
import { createBatcher } from '../../../lib/concurrency/batcher.ts';
import type { HasDb, Records } from '../../../store/database.ts';
import type { ChainPayment } from '../../chain-outbox/chain-payment.ts';
import { findByNames, type PaymentNames } from '../../chain-outbox/chain-payment-store.ts';
import { createContractPayers, type HasContractPayers } from '../../settlement/contract-payers.ts';
import { createSimulator, type HasSimulator } from '../../settlement/payment-simulator.ts';
import type { HasX402Schemes, X402Scheme } from '../../x402/x402-scheme.ts';
import { createSignatureChecker, type SignatureChecker } from './check-signature.ts';
import { createPayerStatus, type PayerStatus } from './payer-status.ts';

/** Reading and checks of a payment that a client shows: was it shown before, is it signed, can its payer pay, would it settle. */
export interface PaymentChecks extends HasPaymentFinder, HasContractPayers, HasSimulator, HasX402Schemes {
  readonly payerStatus: PayerStatus;
  readonly signatureChecker: SignatureChecker;
}

export const createPaymentChecks = (
  needs: Records & HasChain & HasUsdc,
  x402Schemes: readonly X402Scheme[],
): PaymentChecks => ({
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

export interface HasPaymentFinder {
  readonly paymentFinder: PaymentFinder;
}

const MAX_FOUND = 200;

function createPaymentFinder(ctx: HasDb): PaymentFinder {
  const batcher = createBatcher<PaymentNames, ChainPayment | null>({
    maxSize: MAX_FOUND,
    run: (names) => findByNames(ctx.db, names),
  });
  return { find: (names) => batcher.add(names) };
}
