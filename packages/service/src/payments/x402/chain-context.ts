import type { HasDb } from '../../db/database.ts';
import type { HasClock } from '../../lib/clock.ts';
import type { HasLog } from '../../lib/log.ts';
import type { HasMetrics } from '../../lib/metrics.ts';
import type { HasPaymentLimits } from '../payment-limits.ts';
import type { HasFees } from './chain-fees.ts';
import type { HasChain } from './chain-info.ts';
import type { HasConfirmations } from './confirmation-depth.ts';
import type { HasGas } from './gas-watch.ts';
import type { HasWallet } from './node-wallet.ts';
import type { HasRegistrar, HasSenders } from './senders.ts';
import type { HasUsdc } from './usdc-client.ts';

/** What acting on the chain takes. */
export type ChainContext = HasDb &
  HasClock &
  HasLog &
  HasMetrics &
  HasChain &
  HasUsdc &
  HasWallet &
  HasSenders &
  HasRegistrar &
  HasFees &
  HasGas &
  HasPaymentLimits &
  HasConfirmations;
