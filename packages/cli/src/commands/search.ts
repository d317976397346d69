import type { AgentListItem } from '@agent-network/contracts/agents/agents';
import { type Client, isApiError } from '@agent-network/sdk';
import { type Command, Option } from 'commander';
import { action } from '../command.ts';
import { CommandError } from '../exit-codes.ts';
import { integer, listOf, readText, usdc } from '../output/arguments.ts';
import { noteMore, offsetOf, pageOption } from '../output/pages.ts';
import { type Column, formatTable } from '../output/table.ts';
import type { Terminal } from '../output/terminal.ts';
import type { Session } from '../session.ts';

interface SearchOptions {
  readonly capability?: string[];
  readonly maxPrice?: string;
  readonly minReputation?: number;
  readonly all?: boolean;
  readonly limit: number;
  readonly cursor?: string;
  readonly page?: number;
  readonly long?: boolean;
}

interface FindOptions {
  readonly capability?: string[];
  readonly maxPrice?: string;
  readonly limit: number;
}

/** Descriptions that are asked for at once. */
const AT_ONCE = 5;

export function addSearch(program: Command): void {
  program
    .command('search')
    .argument('[text]', 'what the agent should do, in natural words')
    .description('find agents that are online, best first')
    .option('-c, --capability <names>', 'comma-separated capabilities, all of which it must have', listOf)
    .option('--max-price <usdc>', 'maximum price per request', usdc)
    .option('--min-reputation <score>', 'minimum reputation, 0 to 1000', integer(0, 1000))
    .option('--all', 'include offline agents')
    .addOption(new Option('--limit <count>', 'maximum number of agents').argParser(integer(1, 100)).default(20))
    .addOption(pageOption())
    .addOption(new Option('--cursor <cursor>', 'nextCursor of the previous page').conflicts('page'))
    .option('-l, --long', 'with the description of each agent, which is a call more each')
    .action(action<[string | undefined, SearchOptions]>(search));
  program
    .command('find')
    .argument('<task>', 'the task in words; "-" reads stdin')
    .description('agents that fit a task, best first; "call --auto" calls the best one')
    .option('-c, --capability <names>', 'comma-separated capabilities, all of which it must have', listOf)
    .option('--max-price <usdc>', 'maximum price per request', usdc)
    .addOption(new Option('--limit <count>', 'maximum number of agents').argParser(integer(1, 20)).default(5))
    .action(action<[string, FindOptions]>(find));
}

async function search({ client, terminal }: Session, text: string | undefined, options: SearchOptions): Promise<void> {
  if (text?.trim() === '') throw new CommandError('The text is empty.');
  const { capability, maxPrice, minReputation, all, limit, cursor, page: number } = options;
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
      ...offsetOf(number, limit),
    },
  });
  const { total, nextCursor, rankedBy } = page;
  const agents = options.long ? await withDescriptions(client, page.agents) : page.agents;
  terminal.result({ agents, total, nextCursor, ...(rankedBy ? { rankedBy } : {}) }, () =>
    agents.length === 0 ? NOBODY : agentTable(agents, terminal),
  );
  if (rankedBy && agents.length > 0) terminal.note(`Ranked by ${rankedBy}.`);
  noteMore(terminal, agents.length, { page: number, cursor, ...page });
}

const NOBODY = 'No agent matches. Describe the task in other words, or list all agents with "agentnet search".';

async function find({ client, terminal }: Session, text: string, options: FindOptions): Promise<void> {
  const { capability, maxPrice, limit } = options;
  const task = await readText(text, process);
  const found = await client.matchAgents({
    body: { task, limit, ...(maxPrice ? { maxPrice } : {}), ...(capability ? { capabilities: capability } : {}) },
  });
  const agents = await withDescriptions(
    client,
    found.matches.map(({ agent }) => agent),
  );
  const matches = found.matches.map((match, index) => ({ ...match, agent: agents[index] ?? match.agent }));
  terminal.result({ ...found, matches }, () => (agents.length === 0 ? NOBODY : agentTable(agents, terminal)));
}

interface Described extends AgentListItem {
  readonly description?: string;
}

/** Reads the descriptions of listed agents, some at once. An agent that was removed meanwhile has none. */
async function withDescriptions(client: Client, agents: readonly AgentListItem[]): Promise<Described[]> {
  const described: Described[] = [];
  for (let from = 0; from < agents.length; from += AT_ONCE)
    described.push(
      ...(await Promise.all(
        agents.slice(from, from + AT_ONCE).map(async (agent) => {
          const found = await client.getAgent({ params: { id: agent.id } }).catch((error: unknown) => {
            if (!isApiError(error, 'NOT_FOUND')) throw error;
            return null;
          });
          return { ...agent, description: found?.description ?? '' };
        }),
      )),
    );
  return described;
}

const descriptionColumn: Column<Described> = {
  title: 'DESCRIPTION',
  value: ({ description = '' }) => description,
  isFlexible: true,
};

/** A list of agents for people, with descriptions where they were read. */
export function agentTable(agents: readonly Described[], terminal: Terminal): string {
  const isDescribed = agents.some(({ description }) => description !== undefined);
  return formatTable(
    agents,
    [
      { title: 'ID', value: (agent) => agent.id },
      { title: 'NAME', value: (agent) => agent.name, isFlexible: true },
      ...(isDescribed ? [descriptionColumn] : []),
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
}
