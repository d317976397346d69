import { createHash, randomUUID } from 'node:crypto';
import { parseUsdc } from '@agent-network/contracts/money';
import type { Client } from '@agent-network/sdk';
import { type Command, Option } from 'commander';
import { agentIdOf } from '../agent-id.ts';
import { action } from '../command.ts';
import { CommandError, EXIT, type ExitCode } from '../exit-codes.ts';
import { once } from '../once.ts';
import { readObject, readText, usdc } from '../output/arguments.ts';
import { formatFacts, oneLine } from '../output/table.ts';
import type { Session } from '../session.ts';
import { endOf, showRecord, waitForEnd, whileWaiting } from './record.ts';

interface CallOptions {
  readonly input?: string;
  readonly context?: string;
  readonly capability?: string;
  readonly maxCost?: string;
  readonly pay?: 'treasury' | 'x402';
  readonly async?: boolean;
  readonly stream?: boolean;
  readonly idempotencyKey?: string;
}

interface Quoted {
  readonly quoteId: string;
  readonly cost: string;
}

export function addCall(program: Command): void {
  program
    .command('quote')
    .argument('<agent>', 'its id or name')
    .argument('<task>', 'the task in words; "-" reads stdin')
    .option('-i, --input <json|@file>', 'input of the agent, a JSON object')
    .option('-c, --capability <name>', 'capability to use, if their types differ')
    .description('the price of a call, locked for 15 minutes')
    .action(action<[string, string, CallOptions]>(quote));
  program
    .command('call')
    .argument('<agent>', 'its id or name')
    .argument('<task>', 'the task in words; "-" reads stdin')
    .option('-i, --input <json|@file>', 'input of the agent, a JSON object')
    .option('-c, --capability <name>', 'capability to use, if their types differ')
    .option('--context <text>', 'background for the agent')
    .option('--max-cost <usdc>', 'maximum cost; calls at or below it need no confirmation', usdc)
    .addOption(new Option('--pay <way>', "the account's treasury, or a wallet over x402").choices(['treasury', 'x402']))
    .option('--async', 'do not wait for the result')
    .option('--stream', 'show the answer as it arrives')
    .option('--idempotency-key <key>', 'repeat with the same key within 24 hours to avoid paying twice')
    .description('call an agent and pay for it; shows the price and asks first')
    .action(action<[string, string, CallOptions]>(call));
}

async function quote(session: Session, agent: string, text: string, options: CallOptions): Promise<void> {
  const task = await readText(text, process);
  const agentId = await agentIdOf(session, agent);
  const input = await readInput(options);
  const quoted = await session
    .requireClient()
    .quoteInvocation({ params: { agentId }, body: { task, input, ...capabilityOf(options) } });
  session.terminal.result(quoted, () =>
    formatFacts([
      ['price', `${quoted.estimatedCost} USDC`],
      ['breakdown', oneLine(quoted.breakdown.explanation)],
      ['time', quoted.estimatedTime],
      ['quote', quoted.quoteId],
      ['valid until', quoted.validUntil],
    ]),
  );
}

async function call(session: Session, agent: string, text: string, options: CallOptions): Promise<ExitCode> {
  if (options.async && options.stream) throw new CommandError('Choose one of --async and --stream.');
  const task = await readText(text, process);
  const input = await readInput(options);
  const body = { task, input, ...capabilityOf(options), ...(options.context ? { context: options.context } : {}) };
  const agentId = await agentIdOf(session, agent);
  const key = options.idempotencyKey ?? randomUUID();
  const quoted = await agreePrice(session, agentId, body, { ...options, idempotencyKey: key });
  const client = session.requireClient(options.pay === 'x402' ? { payer: session.payer(quoted.cost) } : {});
  const start = { agentId, body: { ...body, maxCost: quoted.cost }, quoteId: quoted.quoteId, key };
  return options.stream ? stream(session, client, start, options) : invoke(session, client, start, options);
}

/** The price as locked by a quote. Throws unless it is within `--max-cost`, or the person agrees. */
async function agreePrice(
  session: Session,
  agentId: string,
  body: { task: string; input: Record<string, unknown>; context?: string; capability?: string },
  { maxCost, idempotencyKey }: Pick<CallOptions, 'maxCost'> & { readonly idempotencyKey: string },
): Promise<Quoted> {
  const client = session.requireClient();
  if (maxCost === undefined && !session.isYes && !session.terminal.isInteractive)
    throw new CommandError(
      'Set a limit with --max-cost, or accept any price with --yes: there is no terminal to ask on.',
    );
  const agent = await client.getAgent({ params: { id: agentId } });
  // The quote is part of the purchase: with another one, the same key would be refused as used for another request.
  const { quoteId, estimatedCost: cost } = await client.quoteInvocation(
    { params: { agentId }, body },
    { idempotencyKey: quoteKeyOf(idempotencyKey) },
  );
  if (maxCost !== undefined) {
    if (parseUsdc(cost) <= parseUsdc(maxCost)) return { quoteId, cost };
    throw new CommandError(`The call costs ${cost} USDC, more than --max-cost ${maxCost}. Nothing was spent.`, {
      code: 'OVER_MAX_COST',
      exitCode: EXIT.payment,
    });
  }
  if (parseUsdc(cost) > 0n) await session.confirm(`Pay ${cost} USDC to "${oneLine(agent.name)}" (${agentId})?`);
  return { quoteId, cost };
}

interface Start {
  readonly agentId: string;
  readonly quoteId: string;
  /** Idempotency-Key of the purchase. */
  readonly key: string;
  readonly body: { readonly task: string; readonly maxCost: string; input: Record<string, unknown> };
}

/** The key of the quote that belongs to a purchase; a hash, because keys have at most 255 characters. */
const quoteKeyOf = (idempotencyKey: string): string =>
  `quote-${createHash('sha256').update(idempotencyKey).digest('hex')}`;
/** Reads the input with its numbers as written. */
const readInput = ({ input }: CallOptions) => readObject(input, '--input', { isExact: true });
const capabilityOf = ({ capability }: CallOptions) => (capability ? { capability } : {});
const headersOf = ({ pay }: CallOptions) => (pay ? { headers: { 'x-payment-method': pay } } : {});

async function invoke(session: Session, client: Client, start: Start, options: CallOptions): Promise<ExitCode> {
  const { agentId, body, quoteId, key } = start;
  const request = { params: { agentId }, query: { quote: quoteId }, body, ...headersOf(options) };
  const created = await whileWaiting(
    () => null,
    () => once(key, (idempotencyKey) => client.invokeAgent(request, { idempotencyKey })),
  );
  if (options.async && !('paymentMethod' in created)) {
    session.terminal.result(created, () => created.requestId);
    session.terminal.note(`Started. Get the result with: agentnet calls wait ${created.requestId}`);
    return EXIT.done;
  }
  const record = 'paymentMethod' in created ? created : await waitForEnd(session, client, created.requestId);
  return showRecord(session, record);
}

async function stream(session: Session, client: Client, start: Start, options: CallOptions): Promise<ExitCode> {
  const { agentId, body, quoteId, key } = start;
  return once(key, (idempotencyKey) =>
    endOf(
      session,
      client,
      client.invokeStreaming(agentId, body, { quote: quoteId, ...headersOf(options), idempotencyKey }),
    ),
  );
}
