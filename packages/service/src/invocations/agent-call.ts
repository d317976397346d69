import type { HasDb } from '../db/database.ts';
import type { HasClock } from '../lib/clock.ts';
import type { HasGuardedFetch } from '../lib/guarded-fetch.ts';
import type { HasLog } from '../lib/log.ts';
import type { HasBaseUrl } from '../payments/deposit.ts';
import type { HasChain } from '../payments/x402/chain-info.ts';
import type { HasWallet } from '../payments/x402/node-wallet.ts';
import type { HasRegistrar, HasSenders } from '../payments/x402/senders.ts';
import type { HasChangeHub } from './change-hub.ts';
import type { HasHomeKeys } from './home/home-keys.ts';
import type { Invocation } from './invocation.ts';
import type { HasChunkWriter } from './record-chunks.ts';

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
  HasHomeKeys &
  HasSenders &
  HasRegistrar;

export interface AgentCall {
  readonly target: CallTarget;
  readonly invocation: Invocation;
  /** Aborted when the call has become pointless: the request was cancelled, or this process stops. */
  readonly signal: AbortSignal;
}
