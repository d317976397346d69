import type { HasChain } from '../../chain/chain-info.ts';
import type { HasUsdc } from '../../chain/usdc-client.ts';
import type { Records } from '../../db/records.ts';
import type { HasPayerStanding } from '../onchain/payers/payer-standing.ts';
import { createPayerStanding } from '../onchain/payers/payer-standing.ts';
import type { HasContractPayers } from '../settlement/contract-payers.ts';
import { createContractPayers } from '../settlement/contract-payers.ts';
import type { HasSimulator } from '../settlement/payment-simulator.ts';
import { createSimulator } from '../settlement/payment-simulator.ts';
import type { HasSignatureChecker } from './check-signature.ts';
import { createSignatureChecker } from './check-signature.ts';
import type { HasPaymentFinder } from './payment-finder.ts';
import { createPaymentFinder } from './payment-finder.ts';
/** Checks of a payment that a client shows: was it shown before, is it signed, can its payer pay, would it settle. */
export interface PaymentChecks
  extends HasPaymentFinder,
    HasSignatureChecker,
    HasPayerStanding,
    HasContractPayers,
    HasSimulator {}

export const createPaymentChecks = (needs: Records & HasChain & HasUsdc): PaymentChecks => ({
  paymentFinder: createPaymentFinder(needs),
  signatureChecker: createSignatureChecker(needs),
  payerStanding: createPayerStanding(needs),
  contractPayers: createContractPayers(needs),
  simulator: createSimulator(needs),
});
