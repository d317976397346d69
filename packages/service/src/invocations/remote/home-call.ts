import type { Home } from '../../agents/agent.ts';
import type { Invocation } from '../invocation.ts';

/** A request for a remote agent. */
export interface HomeCall {
  readonly home: Home;
  readonly invocation: Invocation;
  /** Aborted when the call has become pointless: the request was cancelled, or this process stops. */
  readonly signal: AbortSignal;
}
