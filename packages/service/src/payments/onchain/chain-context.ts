import type { HasFees } from '../../chain/chain-fees.ts';
import type { HasChain } from '../../chain/chain-info.ts';
import type { HasConfirmations } from '../../chain/confirmation-depth.ts';
import type { HasGas } from '../../chain/gas-watch.ts';
import type { HasWallet } from '../../chain/node-wallet.ts';
import type { HasRegistrar, HasSenders } from '../../chain/senders.ts';
import type { HasUsdc } from '../../chain/usdc-client.ts';
import type { HasDb } from '../../db/database.ts';
import type { HasClock } from '../../lib/clock.ts';
import type { HasLog } from '../../lib/log/log.ts';
import type { HasMetrics } from '../../lib/metrics.ts';
import type { HasPaymentLimits } from './payment-limits.ts';

/** Dependencies of use cases that act on the chain. */
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
