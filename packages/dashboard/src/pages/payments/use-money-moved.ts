import type { EndpointName } from '@agent-network/contracts/api';
import { useQueryClient } from '@tanstack/react-query';

const stale: readonly EndpointName[] = ['getBalance', 'listPayments', 'getStatement'];

/** To be called when money moved, or may have: what tells of it is read again. */
export function useMoneyMoved(): () => Promise<unknown> {
  const queryClient = useQueryClient();
  return () => Promise.all(stale.map((name) => queryClient.invalidateQueries({ queryKey: [name] })));
}
