import type { Api } from '@agent-network/contracts/api';
import type { DataOf, Parsed } from '@agent-network/contracts/endpoint';
import { listChangedAgents } from '../agents/list-changed-agents.ts';
import { toRegistrationFile } from '../agents/registration-file.ts';
import type { HasDb } from '../db/database.ts';
import type { HasRegistry } from '../identity/registry/registry-info.ts';
import type { HasBaseUrl } from '../payments/deposit.ts';

const DEFAULT_LIMIT = 100;

/** The registration files of this node's agents in the registry that changed after a cursor. */
export async function listNetworkAgents(
  ctx: HasDb & HasBaseUrl & HasRegistry,
  { cursor, limit = DEFAULT_LIMIT }: Parsed<Api['listNetworkAgents']>['query'],
): Promise<DataOf<Api['listNetworkAgents']>> {
  const changed = await listChangedAgents(ctx, { cursor, limit });
  return { ...changed, agents: changed.agents.map((agent) => toRegistrationFile(agent, ctx)) };
}
