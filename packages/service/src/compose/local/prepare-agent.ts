import type { AgentTypes } from '@agent-network/contracts/agents/agent-types';
import { AgentRegistration, AgentUpdate } from '@agent-network/contracts/agents/agents';
import { hasDone } from '../../accounts/audit.ts';
import { registerAgent } from '../../agents/listing/register-agent.ts';
import { updateAgent } from '../../agents/listing/update-agent.ts';
import { readAgent } from '../../agents/search/find-agent.ts';
import { AppError } from '../../lib/app-error.ts';
import type { NodeContext } from '../context.ts';
import { freePort } from './free-port.ts';
import type { LocalKeys } from './local-keys.ts';

export interface LocalAgent {
  readonly id: string;
  readonly name: string;
  readonly identityToken: string;
  readonly endpoint: string;
}

export interface Owner {
  readonly accountId: string;
  readonly address: string;
}

export interface Description {
  readonly name: string;
  readonly description: string;
  readonly capabilities: readonly string[];
  readonly rates: { readonly perRequest: string };
  readonly exampleQuestions?: readonly string[];
  readonly types?: AgentTypes;
}

/** Registers the agent if the account has none, at its port, or at another one if that is taken. */
export async function prepareAgent(
  ctx: NodeContext,
  keys: Pick<LocalKeys, 'agents'>,
  owner: Owner,
  description: Description,
): Promise<LocalAgent> {
  const known = keys.agents[description.name];
  const port = await freePort(known?.port ?? 0);
  const endpoint = `http://127.0.0.1:${port}/`;
  if (known && (await hasMoved(ctx, owner, known.id, endpoint))) {
    keys.agents[description.name] = { ...known, port };
    await addWhatIsNew(ctx, owner, known.id, description);
    return { id: known.id, name: description.name, identityToken: known.identityToken, endpoint };
  }
  const input = AgentRegistration.parse({ ...description, endpoint });
  const { id, identityToken } = await registerExample(ctx, owner, input);
  keys.agents[description.name] = { id, identityToken, port };
  return { id, name: description.name, identityToken, endpoint };
}

/** Registers the agent, without its types where these are refused: a busy machine may not check them in time, which must not end the start. */
async function registerExample(ctx: NodeContext, owner: Owner, input: AgentRegistration) {
  const { types, ...untyped } = input;
  if (types === undefined) return registerAgent(ctx, owner, input);
  return registerAgent(ctx, owner, input).catch((err: unknown) => {
    if (!(err instanceof AppError)) throw err;
    ctx.log.warn({ err, agent: input.name }, 'example agent is registered without its types');
    return registerAgent(ctx, owner, untyped);
  });
}

/**
 * Adds types and example questions to an agent that has none, as it is from an earlier version, or was registered on a busy machine; not to
 * one that its owner has changed.
 */
async function addWhatIsNew(ctx: NodeContext, owner: Owner, id: string, description: Description): Promise<void> {
  const { types, exampleQuestions } = await readAgent(ctx, id);
  const missing = {
    ...(types === undefined && description.types ? { types: description.types } : {}),
    ...(exampleQuestions.length === 0 && description.exampleQuestions
      ? { exampleQuestions: description.exampleQuestions }
      : {}),
  };
  if (Object.keys(missing).length === 0) return;
  if (await hasDone(ctx, { accountId: owner.accountId, action: 'updateAgent', subjectId: id })) return;
  await updateAgent(ctx, owner, id, AgentUpdate.parse(missing)).catch((err: unknown) => {
    if (!(err instanceof AppError)) throw err;
    ctx.log.warn({ err, agent: description.name }, 'example agent stays without its types');
  });
}

/**
 * Moves the agent to this endpoint. Returns false when the account no longer has it, because it was removed or its token given away. Throws
 * any other error, since registering a second agent would duplicate it.
 */
const hasMoved = (ctx: NodeContext, owner: Owner, id: string, endpoint: string): Promise<boolean> =>
  updateAgent(ctx, owner, id, { endpoint }).then(
    () => true,
    (error: unknown) => {
      if (error instanceof AppError && (error.code === 'NOT_FOUND' || error.code === 'FORBIDDEN')) return false;
      throw error;
    },
  );
