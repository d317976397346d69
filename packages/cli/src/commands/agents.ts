import type { AgentDetail } from '@agent-network/contracts/agents/agents';
import { priceText } from '@agent-network/contracts/agents/price-text';
import type { Command } from 'commander';
import { agentIdOf, ownAgentIdOf } from '../agent-id.ts';
import { action, addList } from '../command.ts';
import { CommandError, EXIT, type ExitCode } from '../exit-codes.ts';
import { listOf, readObject, usdc } from '../output/arguments.ts';
import { formatFacts, oneLine } from '../output/table.ts';
import type { Terminal } from '../output/terminal.ts';
import type { Session } from '../session.ts';
import { addOwnAgent } from './own-agent.ts';
import { agentTable } from './search.ts';

interface AgentOptions {
  readonly name?: string;
  readonly description?: string;
  readonly capability?: string[];
  readonly price?: string;
  readonly endpoint?: string;
  readonly file?: string;
}

export function addAgents(program: Command): void {
  const agents = program.command('agents').description('listed agents, and your own');
  agents
    .command('show')
    .argument('<agent>', 'its id, slug or name')
    .description('everything about an agent')
    .action(action<[string]>(show));
  addList(agents).description('your own agents').action(action(list));
  withFields(agents.command('register').description('register an agent (verify its endpoint afterwards)')).action(
    action<[AgentOptions]>(register),
  );
  withFields(
    agents.command('update').argument('<agent>', 'its id, slug or name').description('update one of your agents'),
  ).action(action<[string, AgentOptions]>(update));
  agents
    .command('remove')
    .argument('<agent>', 'its id, slug or name')
    .description('remove one of your agents; asks first, or needs --yes')
    .action(action<[string]>(remove));
  agents
    .command('verify')
    .argument('<agent>', 'its id, slug or name')
    .description('verify the endpoint of one of your agents now; exit code 1 if there is no proof')
    .action(action<[string]>(verify));
  addOwnAgent(agents);
}

const withFields = (command: Command): Command =>
  command
    .option('--name <name>')
    .option('--description <text>')
    .option('-c, --capability <names>', 'comma-separated', listOf)
    .option('--price <usdc>', 'price per request', usdc)
    .option('--endpoint <url>', 'URL that the node calls')
    .option('-f, --file <file.json>', 'full request body of the API; options override its fields');

async function bodyOf({ file, name, description, capability, price, endpoint }: AgentOptions) {
  const base = file ? await readObject(`@${file}`, '--file') : {};
  const rates = price ? { ...(base.rates as object | undefined), perRequest: price } : base.rates;
  const given = { name, description, capabilities: capability, rates, endpoint };
  return { ...base, ...Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined)) };
}

async function show({ client, terminal }: Session, named: string): Promise<void> {
  const id = await agentIdOf({ client }, named);
  const agent = await client.getAgent({ params: { id } });
  terminal.result(agent, () => agentFacts(agent, terminal));
}

const agentFacts = (agent: AgentDetail, terminal: Terminal): string =>
  formatFacts([
    ['id', agent.id],
    ['name', oneLine(agent.name)],
    ['description', oneLine(agent.description) || null],
    ['capabilities', agent.capabilities.join(', ')],
    ['price', `${priceText({ ...agent.rates, metadata: agent.metadata })} a request`],
    ['reputation', reputationText(agent)],
    ['status', agent.status === 'online' ? terminal.good(agent.status) : terminal.bad(agent.status)],
    ['verified', agent.verified ? 'yes' : 'no'],
    ['response', agent.avgResponseTime],
    ['owner', agent.owner],
    ['node', agent.location],
    ['endpoint', oneLine(agent.endpoint)],
  ]);

/** Until enough independent customers have paid, the score says little. */
const reputationText = ({ isNew, reputation, totalRequests }: AgentDetail): string =>
  `${isNew ? 'new' : `${Math.round(reputation)} of 1,000`}, ${totalRequests} requests`;

async function list(session: Session): Promise<void> {
  const { agents, total } = await session.requireClient().listOwnAgents({ query: { limit: 100 } });
  session.terminal.result({ agents, total }, () =>
    agents.length === 0
      ? 'You have no agents. Register one with "agentnet agents register", or run a program as one with "agentnet serve".'
      : agentTable(agents as never, session.terminal),
  );
}

async function register(session: Session, options: AgentOptions): Promise<void> {
  const body = await bodyOf(options);
  const registered = await session.requireClient().registerAgent({ body: body as never });
  session.terminal.result(registered, () =>
    formatFacts([
      ['id', registered.id],
      ['status', registered.status],
      ['identityToken', registered.identityToken],
    ]),
  );
  session.terminal.note(
    'Save the identityToken: it is shown once. The endpoint must answer a challenge with it (see /docs of the node). Then run: ' +
      `agentnet agents verify ${registered.id}`,
  );
}

async function update(session: Session, named: string, options: AgentOptions): Promise<void> {
  const body = await bodyOf(options);
  if (Object.keys(body).length === 0)
    throw new CommandError('Nothing to change. Pass a field, for example --price 0.02.');
  const client = session.requireClient();
  const id = await ownAgentIdOf(client, named);
  const agent = await client.updateAgent({ params: { id }, body: body as never });
  session.terminal.result(agent, () => `Updated ${id}.`);
}

async function remove(session: Session, named: string): Promise<void> {
  const client = session.requireClient();
  const id = await ownAgentIdOf(client, named);
  const agent = await client.getAgent({ params: { id } });
  await session.confirm(`Remove "${oneLine(agent.name)}" (${id})? It can't be registered under this id again.`);
  const removed = await client.removeAgent({ params: { id } });
  session.terminal.result(removed, () => `Removed ${id}.`);
}

async function verify(session: Session, named: string): Promise<ExitCode> {
  const client = session.requireClient();
  const agentId = await ownAgentIdOf(client, named);
  const answer = await client.verifyIdentity({ body: { agentId, proof: 'endpoint' } });
  const { by = null, reason = null } = 'by' in answer ? answer : {};
  session.terminal.result(answer, () =>
    by === null
      ? `Not verified: ${oneLine(reason ?? 'no proof was found.')}`
      : `The endpoint of ${agentId} is verified.`,
  );
  return by === null ? EXIT.failed : EXIT.done;
}
