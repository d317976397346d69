import type { AgentRegistrationFile } from '@agent-network/contracts/agents/registration';
import type { Gateway } from '@agent-network/contracts/endpoint';
import type { NodeIdentity } from '../../chain/chain-info.ts';
import { notFound } from '../../lib/app-error.ts';
import type { RegistryIndex } from '../../registry/read/registry-tokens.ts';
import type { Store } from '../../store/database.ts';
import { isId } from '../agent-id.ts';
import { findLocalAgentRow } from '../agent-store.ts';
import { readTypes } from '../listing/declare-types.ts';
import { toRegistrationFile } from './registration-file.ts';

/** The registration file of an agent of this node, verified or not, removed or not. Remote agents have theirs at their home node. */
export async function readRegistration(
  ctx: Store & RegistryIndex & NodeIdentity & { readonly gateways: ReadonlySet<Gateway> },
  agentId: string,
): Promise<AgentRegistrationFile> {
  const agent = isId(agentId) ? await findLocalAgentRow(ctx.db, agentId) : null;
  if (!agent) throw notFound('agent');
  return toRegistrationFile(agent, ctx, agent.typesId === null ? null : await readTypes(ctx.db, agent.typesId));
}
