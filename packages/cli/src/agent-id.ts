import { type Client, isApiError } from '@agent-network/sdk';
import { CommandError } from './exit-codes.ts';
import { oneLine } from './output/table.ts';

/** True for a text that is no name: an id, or nothing. */
const isId = (text: string): boolean => /^agt_/.test(text) || text.trim() === '';

/**
 * Id of an agent given by id, slug or name. The node is asked once, so that all of a command is about one agent. Throws CommandError when
 * several agents may be meant.
 */
export async function agentIdOf({ client }: { readonly client: Client }, text: string): Promise<string> {
  if (isId(text)) return text;
  try {
    return (await client.getAgent({ params: { id: text } })).id;
  } catch (error) {
    // The only value of that call is the name.
    if (isApiError(error, 'VALIDATION_ERROR')) throw new CommandError(error.message, { code: 'AMBIGUOUS_NAME' });
    throw error;
  }
}

/** Id of an agent of the account, listed or not, given by id, slug or name in any case; see `agentIdOf`. */
export async function ownAgentIdOf(client: Client, text: string): Promise<string> {
  if (isId(text)) return text;
  const { agents } = await client.listOwnAgents({ query: { limit: 100 } });
  const found = agents.filter(({ name }) => name.toLowerCase() === text.toLowerCase());
  if (found.length > 1)
    throw new CommandError(
      `${found.length} of your agents are named "${oneLine(text)}". Use an id: ${found.map(({ id }) => id).join(', ')}.`,
      { code: 'AMBIGUOUS_NAME' },
    );
  return found[0]?.id ?? agentIdOf({ client }, text);
}
