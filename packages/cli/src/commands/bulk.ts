import { type BulkRecord, type BulkStrategy, bulkStrategies } from '@agent-network/contracts/invocations/bulk';
import { formatUsdc, parseUsdc } from '@agent-network/contracts/money';
import type { Client } from '@agent-network/sdk';
import { type Command, Option } from 'commander';
import { agentIdOf } from '../agent-id.ts';
import { action } from '../command.ts';
import { CommandError, EXIT, type ExitCode } from '../exit-codes.ts';
import { once } from '../once.ts';
import { listOf, readObject, readText, usdc } from '../output/arguments.ts';
import { formatTable } from '../output/table.ts';
import type { Session } from '../session.ts';
import { textOf, waitUntilEnded } from './record.ts';

interface BulkOptions {
  readonly agents: string[];
  readonly input?: string;
  readonly strategy: BulkStrategy;
  readonly maxCost?: string;
  readonly async?: boolean;
  readonly idempotencyKey?: string;
}

export function addBulk(program: Command): void {
  const bulk = program.command('bulk').description('one task for several agents');
  bulk
    .command('start', { isDefault: true })
    .argument('<task>', 'the task in words; "-" reads stdin')
    .requiredOption('-a, --agents <agents>', 'comma-separated ids, slugs or names', listOf)
    .option('-i, --input <json|@file>', 'input of the agents, a JSON object')
    .addOption(
      new Option('--strategy <name>', 'all: every result; the others end with the first, or the most frequent, result')
        .choices([...bulkStrategies])
        .default('all'),
    )
    .option('--max-cost <usdc>', 'maximum cost per agent; calls at or below it need no confirmation', usdc)
    .option('--async', 'do not wait for the results')
    .option('--idempotency-key <key>', 'repeat with the same key within 24 hours to avoid paying twice')
    .description('send a task to several agents; shows the price and asks first, unless --max-cost or --yes is given')
    .action(action<[string, BulkOptions]>(start));
  bulk.command('show').argument('<bulk>').description('a bulk request and its result').action(action<[string]>(show));
  bulk
    .command('wait')
    .argument('<bulk>')
    .description('wait until a bulk request ends')
    .action(action<[string]>(async (session, id) => showEnd(session, await waitForBulk(session, id))));
}

async function start(session: Session, text: string, options: BulkOptions): Promise<ExitCode> {
  const task = await readText(text, process);
  const input = await readObject(options.input, '--input', { isExact: true });
  const client = session.requireClient();
  const agents: string[] = [];
  for (const named of options.agents) agents.push(await agentIdOf(session, named));
  const maxCostPerAgent = options.maxCost ?? (await agreePrices(session, client, agents, { task, input }));
  const body = { task, input, agents, strategy: options.strategy, maxCostPerAgent };
  const started = await once(options.idempotencyKey, (idempotencyKey) =>
    client.invokeBulk({ body }, { idempotencyKey }),
  );
  if (!options.async) return showEnd(session, await waitForBulk(session, started.bulkId));
  session.terminal.result(started, () => started.bulkId);
  session.terminal.note(`Started. Get the results with: agentnet bulk wait ${started.bulkId}`);
  return EXIT.done;
}

/** The highest of the agents' prices, once the person agreed to their sum. */
async function agreePrices(
  session: Session,
  client: Client,
  agents: readonly string[],
  body: { readonly task: string; readonly input: Record<string, unknown> },
): Promise<string> {
  if (!session.isYes && !session.terminal.isInteractive)
    throw new CommandError(
      'Set a limit for each agent with --max-cost, or accept any price with --yes: there is no terminal to ask on.',
    );
  const prices: bigint[] = [];
  for (const agentId of agents)
    prices.push(parseUsdc((await client.quoteInvocation({ params: { agentId }, body })).estimatedCost));
  const total = prices.reduce((sum, price) => sum + price, 0n);
  if (total > 0n)
    await session.confirm(`Pay up to ${formatUsdc(total)} USDC to ${agents.length} agents (${agents.join(', ')})?`);
  return formatUsdc(prices.reduce((most, price) => (price > most ? price : most), 0n));
}

const waitForBulk = (session: Session, id: string): Promise<BulkRecord> =>
  waitUntilEnded(session, {
    id,
    command: 'bulk wait',
    read: () => session.requireClient().getBulk({ params: { bulkId: id } }),
  });

async function show(session: Session, bulkId: string): Promise<void> {
  const record = await session.requireClient().getBulk({ params: { bulkId } });
  session.terminal.result(record, () => `${record.bulkId}: ${record.status}\n${requestTable(record, session)}`);
}

function showEnd(session: Session, record: BulkRecord): ExitCode {
  const { terminal } = session;
  const hasResult = record.winner !== null || record.strategy === 'majority';
  const isDone = record.status === 'completed';
  terminal.result(record, () => (isDone && hasResult ? textOf(record.result) : requestTable(record, session)));
  terminal.note(
    `${record.bulkId}: ${record.status}, ${record.cost ?? '0.00'} USDC. Read a result with: agentnet calls show <request>`,
  );
  return isDone ? EXIT.done : EXIT.failed;
}

const requestTable = ({ requests }: BulkRecord, { terminal }: Session): string =>
  formatTable(
    requests,
    [
      { title: 'REQUEST', value: (each) => each.requestId },
      { title: 'AGENT', value: (each) => each.agentId },
      { title: 'STATUS', value: (each) => each.status },
    ],
    terminal.columns,
  );
