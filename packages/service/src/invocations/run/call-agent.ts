import type { AgentProtocol } from '@agent-network/contracts/agents/upstream';
import { beginWithoutSecrets, type Upstream, withoutSecrets } from '../../agents/upstream/upstream.ts';
import { a2aAdapter } from '../agent-protocol/a2a/a2a-call-client.ts';
import type { Adapter } from '../agent-protocol/adapter.ts';
import type { AgentCall, CallContext } from '../agent-protocol/agent-call.ts';
import { callOnce } from '../agent-protocol/call-once.ts';
import { callHttp } from '../agent-protocol/http/http-client.ts';
import { mcpAdapter } from '../agent-protocol/mcp/mcp-call-client.ts';
import { mipAdapter } from '../agent-protocol/mip-003/mip-call-client.ts';
import { openaiAdapter } from '../agent-protocol/openai/openai-client.ts';
import type { Outcome } from '../invocation.ts';

type Call = (ctx: CallContext, call: AgentCall) => Promise<Outcome>;

const once =
  (adapter: Adapter): Call =>
  (ctx, call) =>
    callOnce(ctx, call, adapter);

const calls: Record<AgentProtocol, Call> = {
  http: callHttp,
  a2a: once(a2aAdapter),
  openai: once(openaiAdapter),
  mcp: once(mcpAdapter),
  'mip-003': once(mipAdapter),
};

/** Calls an agent in the protocol of its endpoint. Never throws for a fault of the agent or the network: every end is an outcome. */
export async function callAgent(ctx: CallContext, call: AgentCall): Promise<Outcome> {
  const outcome = await calls[call.target.protocol](ctx, call);
  return outcome.kind === 'failed' ? { ...outcome, message: shownMessage(call.target, outcome.message) } : outcome;
}

const MAX_SHOWN = 560;

/** The beginning of a message about a failure, without the owner's secrets and the part of one in which it is cut off. */
export const shownMessage = (target: Pick<Upstream, 'headers'>, message: string): string =>
  message.length <= MAX_SHOWN
    ? withoutSecrets(target, message)
    : `${beginWithoutSecrets(target, message, MAX_SHOWN).toWellFormed()}…`;
