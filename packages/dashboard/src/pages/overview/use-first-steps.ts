import type { AgentListItem } from '@agent-network/contracts/agents/agents';
import { useApi } from '../../app/api-query.ts';
import { isLiving } from '../keys/key.ts';

/** Keys are made and agents come without an event that this page hears. */
const ASK_AGAIN_MS = 3000;

export interface Progress {
  readonly hasKey: boolean;
  readonly isFunded: boolean;
  /** One that can be called now, that costs something if there is such a one. */
  readonly agent: AgentListItem | null;
  readonly hasPaid: boolean;
}

const isPositive = (amount: string | undefined) => Number(amount ?? 0) > 0;

/** Progress of an account towards its first paid call; undefined: not loaded yet. Polled until that call was made. */
export function useFirstSteps(): Progress | undefined {
  const paidCalls = { query: { status: 'completed', limit: 1 } } as const;
  const { data: paid } = useApi('listInvocations', paidCalls);
  const hasPaid = isPositive(paid?.totalCost);
  const isOpen = paid !== undefined && !hasPaid;
  const often = { enabled: isOpen, refetchIntervalMs: ASK_AGAIN_MS };
  useApi('listInvocations', paidCalls, often);
  const { data: keys } = useApi('listApiKeys', {}, often);
  const { data: balance } = useApi('getBalance', {}, often);
  const { data: deposits } = useApi('listPayments', { query: { type: 'deposit', limit: 1 } }, often);
  const { data: online } = useApi('listAgents', { query: { status: 'online', limit: 20 } }, often);
  const agents = online?.agents ?? [];
  return (
    paid && {
      hasKey: keys?.keys.some((key) => isLiving(key, Date.now())) ?? false,
      isFunded: isPositive(balance?.available) || isPositive(balance?.held) || (deposits?.total ?? 0) > 0,
      agent: agents.find(({ rates }) => isPositive(rates.perRequest)) ?? agents[0] ?? null,
      hasPaid,
    }
  );
}
