import type { AgentListItem } from '@agent-network/contracts/agents/agents';
import type { searchResources } from '@agent-network/contracts/agents/discovery';
import type { Parsed } from '@agent-network/contracts/endpoint';
import { parseUsdc } from '@agent-network/contracts/money';
import type { NodeIdentity } from '../../chain/chain-info.ts';
import { MINUTE_MS } from '../../lib/duration.ts';
import { bazaarExtension } from '../../payments/x402/bazaar-extension.ts';
import { listedTerms } from '../../payments/x402/listed-terms.ts';

type Filter = Omit<Parsed<typeof searchResources>['query'], 'query' | 'limit'>;

/** Facilitators keep no longer ones. */
const MAX_NAME = 32;
const MAX_TAGS = 5;
const MAX_DESCRIBED = 10;

const isListable = (text: string) => text.length <= MAX_NAME && /^[\x20-\x7e]+$/.test(text);

/** True if what is sold here passes the filters of a facilitator's client: every agent is sold on the same terms. */
export function sellsFor({ chain }: NodeIdentity, filter: Filter): boolean {
  const { type = 'http', payTo = chain.wallet, scheme, network = chain.caip2, extensions = 'bazaar' } = filter;
  return (
    type === 'http' &&
    payTo.toLowerCase() === chain.wallet &&
    (scheme === undefined || listedTerms(chain, 0n).some((terms) => terms.scheme === scheme)) &&
    [chain.caip2, chain.name].includes(network) &&
    extensions.split(',').every((name) => name.trim() === 'bazaar')
  );
}

/** An agent as a resource that can be bought. `lastUpdated` is when the list was read, to the minute: prices are those of now. */
export const toResource = (node: NodeIdentity, agent: AgentListItem, now: Date) => ({
  resource: `${node.baseUrl}/x402/${agent.id}`,
  type: 'http',
  x402Version: 2,
  accepts: listedTerms(node.chain, parseUsdc(agent.rates.perRequest)),
  lastUpdated: new Date(Math.floor(now.getTime() / MINUTE_MS) * MINUTE_MS).toISOString(),
  description: `Invocation of ${agent.name}: ${agent.capabilities.slice(0, MAX_DESCRIBED).join(', ')}`,
  mimeType: 'application/json',
  ...(isListable(agent.name) ? { serviceName: agent.name } : {}),
  tags: agent.capabilities.filter(isListable).slice(0, MAX_TAGS),
  extensions: { bazaar: bazaarExtension },
});
