import type { Entry } from '../nodes/entry.ts';
import type { HasNetworkRules } from '../nodes/network-context.ts';

/** True when the operator of this node refuses an entry. */
export const isRefused = ({ networkRules }: HasNetworkRules, { baseUrl, tokenId }: Entry): boolean =>
  networkRules.refused.includes(baseUrl) || networkRules.refused.includes(tokenId);
