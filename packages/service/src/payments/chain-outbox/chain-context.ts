import type { ChainAccess } from '../../chain/chain-access.ts';
import type { SigningKeys } from '../../chain/gas-watch.ts';
import type { Telemetry } from '../../lib/telemetry/telemetry.ts';
import type { Records } from '../../store/database.ts';
import type { HasPaymentLimits } from './payment-limits.ts';
import type { HasPurchases } from './purchases.ts';
import type { HasSettlementHalt } from './settlement-halt.ts';

/** Minimum amounts of payments, and the halt that stops settlement. */
export interface PaymentConditions extends HasPaymentLimits, HasSettlementHalt {}

/** Dependencies of use cases that act on the chain. */
export interface ChainContext extends Records, Telemetry, ChainAccess, SigningKeys, PaymentConditions, HasPurchases {}
