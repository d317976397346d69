import type { Upstream } from '../../agents/health/upstream.ts';
import type { ChainAccess } from '../../chain/chain-access.ts';
import type { NodeIdentity } from '../../chain/chain-info.ts';
import type { SigningKeys } from '../../chain/gas-watch.ts';
import type { Outbound } from '../../lib/net/guarded-fetch.ts';
import type { ChannelServices } from '../../payments/schemes/batch-settlement/channel-services.ts';
import type { BillAnswer } from '../../payments/x402/agent-terms.ts';
import type { PaymentProof } from '../../payments/x402/payment-proof.ts';
import type { Store } from '../../store/database.ts';
import type { AgentOutcome, Invocation, Outcome } from '../invocation.ts';
import type { ChunkOutput } from '../stream/record-chunks.ts';
import type { GivenAnswer } from '../turns/turn-store.ts';
import { failed } from './agent-answer.ts';
import type { AnswerMedia } from './answer-media.ts';

/** The upstream demands a payment; it has not done the work. */
export interface Billed extends BillAnswer {
  readonly kind: 'billed';
}

export interface Send {
  /** Sends the request once, with a payment or none, and follows it to its end. */
  (proof: PaymentProof | null): Promise<AgentOutcome | Billed>;
  /** Closes resources of the call. Called once, however the call ends, even if nothing was sent. */
  close?(): void;
}

/** A protocol in which an endpoint may run a repeated request twice, so that the node sends it once. */
export interface Adapter {
  /** Reads everything that the request depends on. Changes nothing, so it may be repeated. */
  prepare(ctx: CallContext, call: AgentCall): Promise<Send>;
  /**
   * Follows work that an earlier process started, or answered a question of; absent: the protocol has no way to. `unsent`: the answer
   * certainly did not arrive, so it is sent.
   */
  resume?(ctx: CallContext, call: AgentCall, handle: string): Promise<AgentOutcome | 'unsent'>;
  /** Cancels work at the agent. */
  cancel?(ctx: CallContext, call: Omit<AgentCall, 'signal' | 'media'>, handle: string): Promise<void>;
}

/** Ends a call from within an adapter. */
export class CallFailedError extends Error {
  override readonly name = 'CallFailedError';
  readonly outcome: Outcome;

  constructor(...[reason, message]: Parameters<typeof failed>) {
    super(message);
    this.outcome = failed(reason, message);
  }
}

export const msLeft = (ctx: CallContext, { invocation }: AgentCall): number =>
  Math.max(1, invocation.deadline.getTime() - ctx.clock.now().getTime());

/** The key of a call: each turn of a request is a call of its own, which may be repeated. */
export const keyOf = ({ id, turn }: Pick<Invocation, 'id' | 'turn'>): string => (turn === 1 ? id : `${id}:${turn}`);

export interface CallTarget extends Upstream {
  readonly identityToken: string;
}

export interface CallContext
  extends Store,
    Outbound,
    ChunkOutput,
    NodeIdentity,
    ChainAccess,
    SigningKeys,
    ChannelServices {}

export interface AgentCall {
  readonly target: CallTarget;
  readonly invocation: Invocation;
  /** Answers to the agent's questions, first to last. */
  readonly answers: readonly GivenAnswer[];
  readonly media: AnswerMedia;
  /** Aborted when the call has become pointless: the request was cancelled, or this process stops. */
  readonly signal: AbortSignal;
}

/** Abort reason of work when this process stops. */
export const STOPPING = new Error('this process stops');

/** True when work was aborted because this process stops, not because of a cancellation: another process continues it. */
export const isStopping = (signal: AbortSignal): boolean => signal.reason === STOPPING;
