import type { AgentListItem } from '@agent-network/contracts/agents/agents';
import { type Command, Option } from 'commander';
import { action } from '../command.ts';
import { CommandError } from '../exit-codes.ts';
import { integer, listOf, usdc } from '../output/arguments.ts';
import { formatTable } from '../output/table.ts';
import type { Terminal } from '../output/terminal.ts';
import type { Session } from '../session.ts';

interface SearchOptions {
  readonly capability?: string[];
  readonly maxPrice?: string;
  readonly minReputation?: number;
  readonly all?: boolean;
  readonly limit: number;
  readonly cursor?: string;
}

export function addSearch(program: Command): void {
  program
    .command('search')
    .argument('[text]', 'words in the name, description or tags')
    .description('find agents that are online, best first')
    .option('-c, --capability <names>', 'comma-separated capabilities, all of which it must have', listOf)
    .option('--max-price <usdc>', 'maximum price per request', usdc)
    .option('--min-reputation <score>', 'minimum reputation, 0 to 1000', integer(0, 1000))
    .option('--all', 'include offline agents')
    .addOption(new Option('--limit <count>', 'maximum number of agents').argParser(integer(1, 100)).default(20))
    .option('--cursor <cursor>', 'nextCursor of the previous page')
    .action(action<[string | undefined, SearchOptions]>(search));
}

async function search({ client, terminal }: Session, text: string | undefined, options: SearchOptions): Promise<void> {
  if (text?.trim() === '') throw new CommandError('The text is empty.');
  const { capability, maxPrice, minReputation, all, limit, cursor } = options;
  const page = await client.searchAgents({
    body: {
      query: {
        ...(text ? { text } : {}),
        ...(capability ? { capabilities: { all: capability } } : {}),
        ...(maxPrice ? { rates: { perRequest: { max: maxPrice } } } : {}),
        ...(minReputation === undefined ? {} : { reputation: { min: minReputation } }),
        ...(all ? {} : { online: true }),
      },
      limit,
      ...(cursor ? { cursor } : {}),
    },
  });
  const { agents, total, nextCursor } = page;
  terminal.result({ agents, total, nextCursor }, () =>
    agents.length === 0 ? 'No agent matches.' : agentTable(agents, terminal),
  );
  if (total > agents.length)
    terminal.note(`${agents.length} of ${total}${nextCursor ? `; more: --cursor ${nextCursor}` : ''}`);
}

/** A list of agents for people. */
export const agentTable = (agents: readonly AgentListItem[], terminal: Terminal): string =>
  formatTable(
    agents,
    [
      { title: 'ID', value: (agent) => agent.id },
      { title: 'NAME', value: (agent) => agent.name, isFlexible: true },
      { title: 'CAPABILITIES', value: (agent) => agent.capabilities.join(','), isFlexible: true },
      { title: 'PRICE', value: (agent) => agent.rates.perRequest, alignsRight: true },
      {
        title: 'REP',
        value: (agent) => (agent.isNew ? 'new' : String(Math.round(agent.reputation))),
        alignsRight: true,
      },
      { title: 'STATUS', value: (agent) => agent.status },
      { title: 'VERIFIED', value: (agent) => (agent.verified ? 'yes' : 'no') },
    ],
    terminal.columns,
  );
