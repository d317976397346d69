import type { AgentCallItem, FailureGroup } from '@agent-network/contracts/agents/agent-calls';
import type { OwnAgent } from '@agent-network/contracts/invocations/figures';
import { failureReasons, requestStatuses } from '@agent-network/contracts/invocations/invocations';
import { type Command, Option } from 'commander';
import { ownAgentIdOf } from '../agent-id.ts';
import { action } from '../command.ts';
import { CommandError, EXIT, type ExitCode } from '../exit-codes.ts';
import { integer } from '../output/arguments.ts';
import { formatFacts, formatTable, oneLine } from '../output/table.ts';
import type { Terminal } from '../output/terminal.ts';
import type { Session } from '../session.ts';

type Days = '1' | '7' | '30';

interface CallsOptions {
  readonly limit: number;
  readonly status?: (typeof requestStatuses)[number];
  readonly error?: (typeof failureReasons)[number];
  readonly cursor?: string;
  readonly errors?: boolean;
  readonly days: Days;
}

const daysOption = () =>
  new Option('--days <days>', 'number of days (UTC), including today').choices(['1', '7', '30']).default('30');

/** Commands for the owner of an agent: its calls, failures and earnings, and why it is offline. */
export function addOwnAgent(agents: Command): void {
  agents
    .command('status')
    .argument('<agent>', 'its id, slug or name')
    .description('status of one of your agents; while it is offline, the reason and the remedy, and exit code 1')
    .action(action<[string]>(status));
  agents
    .command('calls')
    .argument('<agent>', 'its id, slug or name')
    .description('calls to one of your agents by any caller, newest first; --errors groups its failures')
    .addOption(new Option('--limit <count>').argParser(integer(1, 100)).default(20))
    .addOption(new Option('--status <status>').choices([...requestStatuses]))
    .addOption(new Option('--error <code>', 'only calls that failed for this reason').choices([...failureReasons]))
    .option('--cursor <cursor>', 'nextCursor of the previous page')
    .addOption(
      new Option('--errors', 'failures by reason, most frequent first').conflicts(['status', 'error', 'cursor']),
    )
    .addOption(daysOption())
    .action(action<[string, CallsOptions]>(calls));
  agents
    .command('earnings')
    .argument('<agent>', 'its id, slug or name')
    .description('earnings of one of your agents, by day')
    .addOption(daysOption())
    .action(action<[string, { days: Days }]>(earnings));
}

const minute = (time: string) => time.slice(0, 16).replace('T', ' ');
const second = (time: string) => time.slice(0, 19).replace('T', ' ');

async function status(session: Session, named: string): Promise<ExitCode> {
  const client = session.requireClient();
  const agentId = await ownAgentIdOf(client, named);
  const { agents } = await client.listOwnAgents({ query: { agentId } });
  const [agent] = agents;
  if (!agent)
    throw new CommandError(
      `You have no agent with the id or name "${agentId}". List yours with "agentnet agents list".`,
      {
        code: 'NOT_FOUND',
        exitCode: EXIT.failed,
      },
    );
  session.terminal.result(agent, () => statusFacts(agent, session.terminal));
  return agent.status === 'online' ? EXIT.done : EXIT.failed;
}

function statusFacts(agent: OwnAgent, terminal: Terminal): string {
  const { offline, verification, earned } = agent;
  const shown = agent.status === 'pending_verification' ? 'not verified yet' : agent.status;
  return formatFacts([
    ['id', agent.id],
    ['name', oneLine(agent.name)],
    ['status', agent.status === 'online' ? terminal.good(shown) : terminal.bad(shown)],
    ['reason', offline && oneLine(offline.reason)],
    [
      'answer',
      offline && offline.status !== null ? `HTTP ${offline.status} ${oneLine(offline.body ?? '')}`.trim() : null,
    ],
    ['to do', offline && oneLine(offline.advice)],
    ['endpoint', oneLine(agent.endpoint)],
    ['checked', verification.lastCheckAt && second(verification.lastCheckAt)],
    ['next check', verification.nextCheckAt && second(verification.nextCheckAt)],
    ['calls', `${agent.calls7} in 7 days, ${agent.failures7} failed`],
    ['earned', `${earned.today} USDC today, ${earned.days30} in 30 days`],
  ]);
}

async function calls(session: Session, named: string, options: CallsOptions): Promise<void> {
  const agentId = await ownAgentIdOf(session.requireClient(), named);
  if (options.errors) return failures(session, agentId, options.days);
  const { limit, status: wanted, error, cursor } = options;
  const query = { limit, status: wanted, error, cursor };
  const page = await session.requireClient().listAgentCalls({ params: { id: agentId }, query });
  session.terminal.result(page, () =>
    page.calls.length === 0 ? 'No calls.' : callTable(page.calls, session.terminal),
  );
  if (page.hasMore) session.terminal.note(`More: --cursor ${page.nextCursor}`);
}

const callTable = (rows: readonly AgentCallItem[], terminal: Terminal): string =>
  formatTable(
    rows,
    [
      { title: 'REQUEST', value: (each) => each.requestId },
      { title: 'CREATED', value: (each) => second(each.createdAt) },
      { title: 'CALLER', value: (each) => [each.caller ?? 'unknown', each.isOwn ? '(you)' : ''].join(' ').trim() },
      { title: 'STATUS', value: (each) => each.status },
      { title: 'MS', value: (each) => (each.latencyMs === null ? '' : String(each.latencyMs)), alignsRight: true },
      { title: 'COST', value: (each) => each.cost ?? '', alignsRight: true },
      { title: 'ERROR', value: (each) => (each.error ? errorText(each.error) : ''), isFlexible: true },
    ],
    terminal.columns,
  );

const errorText = ({ code, message }: { code: string; message: string | null }) =>
  message === null ? code : `${code}: ${message}`;

async function failures(session: Session, agentId: string, days: Days): Promise<void> {
  const found = await session.requireClient().listAgentErrors({ params: { id: agentId }, query: { days } });
  session.terminal.result(found, () =>
    found.groups.length === 0
      ? `No failed calls in ${found.days === 1 ? 'a day' : `${found.days} days`}.`
      : failureTable(found.groups, session.terminal),
  );
}

const failureTable = (groups: readonly FailureGroup[], terminal: Terminal): string =>
  formatTable(
    groups,
    [
      { title: 'COUNT', value: (each) => `${each.count}${each.isAtLeast ? '+' : ''}`, alignsRight: true },
      { title: 'LAST', value: (each) => minute(each.lastAt) },
      { title: 'ERROR', value: errorText, isFlexible: true },
      { title: 'NEWEST REQUEST', value: (each) => each.requestId },
    ],
    terminal.columns,
  );

async function earnings(session: Session, named: string, { days }: { days: Days }): Promise<void> {
  const client = session.requireClient();
  const agentId = await ownAgentIdOf(client, named);
  const found = await client.getAgentEarnings({ params: { id: agentId }, query: { days } });
  const { terminal } = session;
  terminal.result(found, () => {
    const total = `${found.earned} USDC earned with ${found.calls} calls, of which ${found.failed} failed.`;
    const rows = found.buckets.filter((each) => each.calls > 0).reverse();
    if (rows.length === 0) return total;
    const table = formatTable(
      rows,
      [
        { title: 'DAY', value: (each) => each.from.slice(0, 10) },
        { title: 'CALLS', value: (each) => String(each.calls), alignsRight: true },
        { title: 'FAILED', value: (each) => String(each.failed), alignsRight: true },
        { title: 'EARNED', value: (each) => each.earned, alignsRight: true },
      ],
      terminal.columns,
    );
    return `${table}\n${total}`;
  });
}
