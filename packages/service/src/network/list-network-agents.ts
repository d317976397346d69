import type { Api } from '@agent-network/contracts/api';
import type { Gateway, Parsed } from '@agent-network/contracts/endpoint';
import { toRegistrationFile } from '../agents/onchain/registration-file.ts';
import { listChangedAgents } from '../agents/search/list-changed-agents.ts';
import type { NodeIdentity } from '../chain/chain-info.ts';
import { preparedArray, prepareJson } from '../lib/json/prepared-json.ts';
import type { RegistryIndex } from '../registry/read/registry-tokens.ts';
import type { Store } from '../store/database.ts';

const DEFAULT_LIMIT = 100;
/**
 * Half the maximum that other nodes read (`read-feed.ts`), so that the owners of some very large agents can't make this node seem offline.
 */
const MAX_PAGE_BYTES = 4 * 2 ** 20;

/** The registration files of this node's registered agents that changed after a cursor. */
export async function listNetworkAgents(
  ctx: Store & NodeIdentity & RegistryIndex & { readonly gateways: ReadonlySet<Gateway> },
  { cursor, limit = DEFAULT_LIMIT }: Parsed<Api['listNetworkAgents']>['query'],
) {
  const page = { cursor, limit, maxBytes: MAX_PAGE_BYTES };
  const changed = await listChangedAgents(ctx, page, (agent) => prepareJson(toRegistrationFile(agent, ctx)));
  return { ...changed, agents: preparedArray(changed.agents) };
}
