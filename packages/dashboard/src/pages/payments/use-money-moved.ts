import type { EndpointName } from '@agent-network/contracts/api';
import { useQueryClient } from '@tanstack/react-query';

const stale: readonly EndpointName[] = [
  'getBalance',
  'listPayments',
  'getStatement',
  'getAgentEarnings',
  'listOwnAgents',
];

/** Returns a function to call when money may have moved; it reloads all data that shows money. */
export function useMoneyMoved(): () => Promise<unknown> {
  const queryClient = useQueryClient();
  return () => Promise.all(stale.map((name) => queryClient.invalidateQueries({ queryKey: [name] })));
}
