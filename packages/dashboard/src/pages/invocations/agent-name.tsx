import { useApi } from '../../app/api-query.ts';
import { Counterparty } from '../payments/counterparty.tsx';

/** The agent of a call of this account by its name, also when it was removed since; by its id where no call names it. */
export function AgentName({ id }: { id: string }) {
  const { data } = useApi('listInvocations', { query: { agentId: id, limit: 1 } });
  return <Counterparty id={id} name={data?.requests[0]?.agentName ?? null} />;
}
