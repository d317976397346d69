import type { AgentProtocol } from '@agent-network/contracts/agents/upstream';
import { withoutSecrets } from '../../agents/upstream/upstream.ts';
import type { Adapter } from '../agent-protocol/adapter.ts';
import type { AgentCall, CallContext } from '../agent-protocol/agent-call.ts';
import { callOnce } from '../agent-protocol/call-once.ts';
import { callHttp } from '../agent-protocol/http/http-client.ts';
import { openaiAdapter } from '../agent-protocol/openai/openai-client.ts';
import type { Outcome } from '../invocation.ts';

type Call = (ctx: CallContext, call: AgentCall) => Promise<Outcome>;

const once =
  (adapter: Adapter): Call =>
  (ctx, call) =>
    callOnce(ctx, call, adapter);

const calls: Record<AgentProtocol, Call> = {
  http: callHttp,
  openai: once(openaiAdapter),
};

/** Calls an agent in the protocol of its endpoint. Never throws for a fault of the agent or the network: every end is an outcome. */
export async function callAgent(ctx: CallContext, call: AgentCall): Promise<Outcome> {
  const outcome = await calls[call.target.protocol](ctx, call);
  return outcome.kind === 'failed' ? { ...outcome, message: withoutSecrets(call.target, outcome.message) } : outcome;
}
