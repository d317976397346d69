import type { Entry } from './entry.ts';
import type { NetworkRules } from './network-context.ts';

/** True when the operator of this node refuses an entry. */
export const isRefused = (
  { networkRules }: { readonly networkRules: NetworkRules },
  { baseUrl, tokenId }: Entry,
): boolean => networkRules.refused.includes(baseUrl) || networkRules.refused.includes(tokenId);
