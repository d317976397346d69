import type { Client } from '@agent-network/sdk';
import { CommandError } from './exit-codes.ts';
import { oneLine } from './output/table.ts';

interface Named {
  readonly id: string;
  readonly name: string;
}

const MAX_FOUND = 100;

/**
 * Id of an agent given by its id or by its name, in any case. Throws CommandError with the ids if several agents have the name. Any other
 * text is returned unchanged, so that the node reports it.
 */
export async function agentIdOf({ client }: { readonly client: Client }, text: string): Promise<string> {
  return idOf(text, async () => {
    const { agents } = await client.searchAgents({ body: { query: { text }, limit: MAX_FOUND } });
    return agents;
  });
}

/** Id of an agent of the account, listed or not, given by its id or by its name; see `agentIdOf`. */
export async function ownAgentIdOf(client: Client, text: string): Promise<string> {
  return idOf(text, async () => (await client.listOwnAgents({})).agents);
}

async function idOf(text: string, find: () => Promise<readonly Named[]>): Promise<string> {
  if (/^agt_/.test(text) || text.trim() === '') return text;
  const found = (await find()).filter(({ name }) => name.toLowerCase() === text.toLowerCase());
  if (found.length > 1)
    throw new CommandError(
      `${found.length} agents are named "${oneLine(text)}". Use an id: ${found.map(({ id }) => id).join(', ')}.`,
      { code: 'AMBIGUOUS_NAME' },
    );
  return found[0]?.id ?? text;
}
