import type { Entry } from '../nodes/entry.ts';
import type { HasNetworkRules } from '../nodes/network-context.ts';

/** Whether the operator of this node wants nothing to do with an entry. */
export const isRefused = ({ networkRules }: HasNetworkRules, { baseUrl, tokenId }: Entry): boolean =>
  networkRules.refused.includes(baseUrl) || networkRules.refused.includes(tokenId);
