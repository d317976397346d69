import type { Upstream } from '../../agents/upstream/upstream.ts';
import type { HasChain } from '../../chain/chain-info.ts';
import type { SigningKeys } from '../../chain/gas-watch.ts';
import type { HasUsdc } from '../../chain/usdc-client.ts';
import type { Records } from '../../db/records.ts';
import type { HasGuardedFetch } from '../../lib/net/guarded-fetch.ts';
import type { HasWalletFunds } from '../../payments/onchain/channel-claims.ts';
import type { Invocation } from '../invocation.ts';
import type { ChunkOutput } from '../stream/record-chunks.ts';

export interface CallTarget extends Upstream {
  readonly identityToken: string;
}

/** The wallet that pays the bills of agents. */
interface PayingWallet extends HasChain, HasUsdc, SigningKeys, HasWalletFunds {}

export interface CallContext extends Records, HasGuardedFetch, ChunkOutput, PayingWallet {}

export interface AgentCall {
  readonly target: CallTarget;
  readonly invocation: Invocation;
  /** Aborted when the call has become pointless: the request was cancelled, or this process stops. */
  readonly signal: AbortSignal;
}
