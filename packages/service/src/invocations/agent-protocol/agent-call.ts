import type { HasBaseUrl, HasChain } from '../../chain/chain-info.ts';
import type { HasWallet } from '../../chain/node-wallet.ts';
import type { HasRegistrar, HasSenders } from '../../chain/senders.ts';
import type { HasDb } from '../../db/database.ts';
import type { HasClock } from '../../lib/clock.ts';
import type { HasLog } from '../../lib/log/log.ts';
import type { HasGuardedFetch } from '../../lib/net/guarded-fetch.ts';
import type { Invocation } from '../invocation.ts';
import type { HasChangeHub } from '../stream/change-hub.ts';
import type { HasChunkWriter } from '../stream/record-chunks.ts';

export interface CallTarget {
  readonly endpoint: string;
  readonly identityToken: string;
}

export type CallContext = HasGuardedFetch &
  HasClock &
  HasDb &
  HasLog &
  HasChangeHub &
  HasChunkWriter &
  HasChain &
  HasWallet &
  HasBaseUrl &
  HasSenders &
  HasRegistrar;

export interface AgentCall {
  readonly target: CallTarget;
  readonly invocation: Invocation;
  /** Aborted when the call has become pointless: the request was cancelled, or this process stops. */
  readonly signal: AbortSignal;
}
