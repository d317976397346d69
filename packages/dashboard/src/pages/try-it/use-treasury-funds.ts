import { parseUsdc } from '@agent-network/contracts/money';
import { useApi } from '../../app/api-query.ts';

/** What the account's own treasury can spend, and whether that is less than a price; not short while it is not known. */
export function useTreasuryFunds(price: string): { available: string | undefined; isShort: boolean } {
  const { data } = useApi('getBalance');
  const own = data?.treasuries.find(({ agentId }) => agentId === null);
  const available = data && (own?.available ?? '0.00');
  return { available, isShort: available !== undefined && parseUsdc(available) < parseUsdc(price) };
}
