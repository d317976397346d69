import type { ChainAccess } from '../../chain/chain-access.ts';
import type { SigningKeys } from '../../chain/gas-watch.ts';
import type { PaymentLimits } from '../../config/payments.ts';
import type { Telemetry } from '../../lib/telemetry/telemetry.ts';
import type { Store } from '../../store/database.ts';
import type { Purchases } from './purchases.ts';
import type { SettlementHalt } from './settlement-halt.ts';

/** Minimum amounts of payments, and the halt that stops settlement. */
export interface PaymentConditions {
  readonly paymentLimits: PaymentLimits;
  readonly settlementHalt: SettlementHalt;
}

/** Dependencies of use cases that act on the chain. */
export interface ChainContext extends Store, Telemetry, ChainAccess, SigningKeys, PaymentConditions {
  readonly purchases: Purchases;
}
