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
  const found = (await listOwn(client)).filter(({ name }) => name.toLowerCase() === text.toLowerCase());
  if (found.length > 1)
    throw new CommandError(
      `${found.length} of your agents are named "${oneLine(text)}". Use an id: ${found.map(({ id }) => id).join(', ')}.`,
      { code: 'AMBIGUOUS_NAME' },
    );
  return found[0]?.id ?? agentIdOf({ client }, text);
}

/** Pages of the account's agents that are looked through for a name. */
const MAX_PAGES = 10;

async function listOwn(client: Client) {
  const all: { readonly id: string; readonly name: string }[] = [];
  let cursor: string | undefined;
  for (let page = 1; page <= MAX_PAGES; page++) {
    const { agents, nextCursor } = await client.listOwnAgents({ query: { limit: 100, cursor } });
    all.push(...agents);
    if (nextCursor === null) return all;
    cursor = nextCursor;
  }
  throw new CommandError(`You have more than ${all.length} agents. Use an id.`, { code: 'AMBIGUOUS_NAME' });
}
