import { useApi } from '../api-query.ts';
import { useSession } from '../session.ts';
import { useSettled } from '../use-settled.ts';
import { type PaletteGroup, pageGroups } from './palette-items.ts';

const PAUSE_MS = 150;
const SHOWN = 6;

/** Everything that matches: pages at once, agents and invocations as the node finds them. */
export function usePaletteGroups(search: string, isOpen: boolean): readonly PaletteGroup[] {
  const { scopes } = useSession();
  const asked = useSettled(search.trim(), PAUSE_MS);
  const isAsked = isOpen && asked !== '';
  const agents = useApi(
    'searchAgents',
    { body: { query: { text: asked }, limit: SHOWN } },
    { enabled: isAsked, keepsPrevious: true },
  );
  const invocations = useApi(
    'listInvocations',
    { query: { limit: SHOWN, ...(asked === '' ? {} : { search: asked }) } },
    { enabled: isOpen && scopes.includes('invoke'), keepsPrevious: true },
  );
  const found = isAsked ? (agents.data?.agents ?? []) : [];
  return [
    ...pageGroups(search, scopes),
    {
      label: 'Agents',
      items: found.map(({ id, name, rates }) => ({
        to: `/explore/${id}`,
        label: name,
        hint: `${rates.perRequest} USDC`,
      })),
    },
    {
      label: 'Invocations',
      items: (invocations.data?.requests ?? []).map(({ requestId, task, agentName, status }) => ({
        to: `/invocations/${requestId}`,
        label: `${task} · ${agentName}`,
        hint: status,
      })),
    },
  ].filter(({ items }) => items.length > 0);
}
