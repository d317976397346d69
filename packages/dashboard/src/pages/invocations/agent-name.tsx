import { useApi } from '../../app/api-query.ts';
import { Counterparty } from '../payments/counterparty.tsx';

/** Name of an agent that this account has called, even if it was removed since; null if it has called none with this id. */
const useAgentName = (id: string): string | null =>
  useApi('listInvocations', { query: { agentId: id, limit: 1 } }).data?.requests[0]?.agentName ?? null;

/** The name of a called agent, as a link to it; its id if the account has not called it. */
export const AgentName = ({ id }: { id: string }) => <Counterparty id={id} name={useAgentName(id)} />;

/** The name of a called agent as text. */
export const AgentLabel = ({ id }: { id: string }) => (
  <bdi className="max-w-40 truncate">{useAgentName(id) ?? `${id.slice(0, 10)}…`}</bdi>
);
