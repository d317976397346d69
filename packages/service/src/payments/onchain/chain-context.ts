import type { ChainAccess } from '../../chain/chain-access.ts';
import type { SigningKeys } from '../../chain/gas-watch.ts';
import type { Records } from '../../db/records.ts';
import type { Telemetry } from '../../lib/log/telemetry.ts';
import type { HasPaymentLimits } from './payment-limits.ts';
import type { HasPurchases } from './purchases.ts';
import type { HasSettlementHalt } from './settlement-halt.ts';

/** What payments must be worth, and whether any can settle. */
export interface PaymentConditions extends HasPaymentLimits, HasSettlementHalt {}

/** Conditions of payments, and what they are for. */
interface PaymentRules extends PaymentConditions, HasPurchases {}

/** Dependencies of use cases that act on the chain. */
export interface ChainContext extends Records, Telemetry, ChainAccess, SigningKeys, PaymentRules {}
