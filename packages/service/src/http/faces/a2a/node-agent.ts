import { describeAgents } from '../../../agents/search/describe-agents.ts';
import { newId } from '../../../lib/id.ts';
import type { HttpContext } from '../../request/http-context.ts';
import { callEndpoint } from '../common/call-endpoint.ts';
import type { A2aCall } from './a2a-call.ts';
import { a2aUrlOf, CARD_PATH } from './cards.ts';
import { invalidParam, taskNotFound } from './protocol/errors.ts';
import type { SendMessage, WireMessage } from './protocol/wire.ts';

const MAX_AGENTS = 10;
const MAX_TASK = 10_000;

/** The node's own agent: finds agents that are online by the text of a message. */
export async function findAgents(ctx: HttpContext, { face }: A2aCall, { message }: SendMessage): Promise<WireMessage> {
  if (message.taskId !== undefined) throw taskNotFound();
  const text = message.parts.flatMap((part) => (typeof part.text === 'string' ? [part.text] : [])).join(' ');
  const task = text.trim().slice(0, MAX_TASK).toWellFormed();
  if (task === '') throw invalidParam('message.parts', 'must hold text that says what is to be done');
  const { data } = await callEndpoint(ctx, face, 'matchAgents', { body: { task, limit: MAX_AGENTS } });
  const found = data.matches.map(({ agent }) => agent);
  const descriptions = await describeAgents(
    ctx,
    found.map(({ id }) => id),
  );
  const agents = found.map(({ id, name, capabilities, rates, reputation }) => ({
    ...{
      agentId: id,
      name,
      description: descriptions.get(id)?.description ?? '',
      capabilities,
      price: rates.perRequest,
      reputation,
    },
    url: a2aUrlOf(ctx.baseUrl, id),
    agentCard: a2aUrlOf(ctx.baseUrl, id) + CARD_PATH,
  }));
  return {
    messageId: newId('req'),
    contextId: message.contextId ?? `ctx_${newId('req').slice(4)}`,
    role: 'ROLE_AGENT',
    parts: [
      { text: agents.map(({ name, agentCard }) => `${name}: ${agentCard}`).join('\n') || 'No agent found.' },
      { data: { agents } },
    ],
  };
}
