import { useApi } from '../../app/api-query.ts';
import { Counterparty } from '../payments/counterparty.tsx';

/** The name of an agent that this account has called, even if it was removed since; its id if it has called none. */
export function AgentName({ id }: { id: string }) {
  const { data } = useApi('listInvocations', { query: { agentId: id, limit: 1 } });
  return <Counterparty id={id} name={data?.requests[0]?.agentName ?? null} />;
}
