import { useApi } from '../../app/api-query.ts';
import { type NamedTreasury, nameTreasuries } from './treasury.ts';

/** The balance of the account, and its treasuries by name. */
export function useTreasuries() {
  const balance = useApi('getBalance');
  const agents = useApi('listOwnAgents', { query: { limit: 100 } });
  const names = new Map(agents.data?.agents.map(({ id, name }) => [id, name]));
  const treasuries: readonly NamedTreasury[] | undefined =
    balance.data && (agents.data || agents.error) ? nameTreasuries(balance.data.treasuries, names) : undefined;
  return { balance: balance.data, treasuries, error: balance.error, refetch: () => void balance.refetch() };
}
