import type { HasDb } from '../../db/database.ts';
import type { HasClock } from '../../lib/clock.ts';
import type { HasLog } from '../../lib/log.ts';
import type { HasMetrics } from '../../lib/metrics.ts';
import type { HasChain } from './chain-info.ts';
import type { HasWallet } from './node-wallet.ts';
import type { HasUsdc } from './usdc-client.ts';

/** What acting on the chain takes. */
export type ChainContext = HasDb & HasClock & HasLog & HasMetrics & HasChain & HasUsdc & HasWallet;
