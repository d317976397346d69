import type { Api } from '@agent-network/contracts/api';
import type { DataOf, Parsed } from '@agent-network/contracts/endpoint';
import type { HasFaces } from '../../agents/interfaces-of.ts';
import { toRegistrationFile } from '../../agents/registry-entry/registration-file.ts';
import { listChangedAgents } from '../../agents/remote/list-changed-agents.ts';
import type { HasBaseUrl } from '../../chain/chain-info.ts';
import type { HasDb } from '../../db/database.ts';
import type { HasRegistry } from '../../registry/read/registry-info.ts';

const DEFAULT_LIMIT = 100;

/** The registration files of this node's registered agents that changed after a cursor. */
export async function listNetworkAgents(
  ctx: HasDb & HasBaseUrl & HasRegistry & HasFaces,
  { cursor, limit = DEFAULT_LIMIT }: Parsed<Api['listNetworkAgents']>['query'],
): Promise<DataOf<Api['listNetworkAgents']>> {
  const changed = await listChangedAgents(ctx, { cursor, limit });
  return { ...changed, agents: changed.agents.map((agent) => toRegistrationFile(agent, ctx)) };
}
