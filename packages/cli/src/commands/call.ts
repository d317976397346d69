import { createHash, randomUUID } from 'node:crypto';
import { unitText } from '@agent-network/contracts/agents/price-text';
import type { Quote } from '@agent-network/contracts/invocations/quotes';
import { parseUsdc } from '@agent-network/contracts/money';
import type { Client, OnInput } from '@agent-network/sdk';
import { type Command, Option } from 'commander';
import { agentIdOf } from '../agent-id.ts';
import { action } from '../command.ts';
import { CommandError, EXIT, type ExitCode } from '../exit-codes.ts';
import { once } from '../once.ts';
import { readObject, readText, usdc } from '../output/arguments.ts';
import { formatFacts, oneLine } from '../output/table.ts';
import type { Session } from '../session.ts';
import { answererOf } from './answers.ts';
import { saveFiles, withFiles } from './files.ts';
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
  readonly auto?: boolean;
  readonly answers?: string;
  readonly file?: string[];
  readonly out?: string;
}

interface Quoted {
  readonly quoteId: string;
  readonly cost: string;
  /** Name of the agent. */
  readonly name: string;
}

interface CallBody {
  readonly task: string;
  readonly input: Record<string, unknown>;
  readonly context?: string;
  readonly capability?: string;
  readonly interactive?: true;
}

/** Value for an agent that the node chooses. */
const AUTO = 'auto';

export function addCall(program: Command): void {
  program
    .command('quote')
    .argument('<agent>', 'its id, slug or name')
    .argument('<task>', 'the task in words; "-" reads stdin')
    .option('-i, --input <json|@file>', 'input of the agent, a JSON object')
    .option('-c, --capability <name>', 'capability to use, if their types differ')
    .description('the price of a call, locked for 15 minutes')
    .action(action<[string, string, CallOptions]>(quote));
  program
    .command('call')
    .argument('<agent>', 'its id, slug or name; with --auto the task instead')
    .argument('[task]', 'the task in words; "-" reads stdin')
    .option('--auto', 'the node chooses the agent that fits the task best within --max-cost')
    .option('-i, --input <json|@file>', 'input of the agent, a JSON object')
    .option('-c, --capability <name>', 'capability to use, if their types differ')
    .option('--file <name=path...>', 'upload a file, and send it as this field of the input')
    .option('--out <folder>', 'save the files of the result here')
    .option('--context <text>', 'background for the agent')
    .option('--max-cost <usdc>', 'maximum cost; calls at or below it need no confirmation', usdc)
    .addOption(new Option('--pay <way>', "the account's treasury, or a wallet over x402").choices(['treasury', 'x402']))
    .option('--async', 'do not wait for the result')
    .option('--stream', 'show the answer as it arrives')
    .option('--answers <json|@file>', 'answers to questions of the agent: a list of inputs, or "decline"')
    .option('--idempotency-key <key>', 'repeat with the same key within 24 hours to avoid paying twice')
    .description('call an agent and pay for it; shows the price and asks first, unless --max-cost or --yes is given')
    .action(action<[string, string | undefined, CallOptions]>(call));
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
      ['price', priceOf(quoted)],
      ['last calls', recentText(quoted.usage)],
      ['breakdown', oneLine(quoted.breakdown.explanation)],
      ['time', quoted.estimatedTime],
      ['quote', quoted.quoteId],
      ['valid until', quoted.validUntil],
    ]),
  );
}

/** "0.05 USDC", or "0.005 to 0.50 USDC" of an agent that is paid by what a call uses. */
const priceOf = ({ estimatedCost, usage }: Quote): string =>
  usage ? `${usage.from} to ${usage.atMost} USDC, by what the call uses` : `${estimatedCost} USDC`;

const recentText = (usage: Quote['usage']): string | null =>
  usage?.recent.cost
    ? `${usage.recent.cost} USDC, ${usage.recent.units.map(({ unit, quantity }) => `${quantity} ${unitText(unit)}`).join(', ')} (medians of ${usage.recent.calls})`
    : null;

async function call(
  session: Session,
  first: string,
  second: string | undefined,
  options: CallOptions,
): Promise<ExitCode> {
  if (options.async && options.stream) throw new CommandError('Choose one of --async and --stream.');
  if (options.out && (options.async || options.stream))
    throw new CommandError('With --out, wait for the result: leave --async and --stream out.');
  const { agent, text } = readArguments(first, second, options);
  const task = await readText(text, process);
  const input = await withFiles(session, await readInput(options), options.file);
  const onInput = options.async ? null : await answererOf(session, options.answers);
  const body = { task, input, ...capabilityOf(options), ...(options.context ? { context: options.context } : {}) };
  const key = options.idempotencyKey ?? randomUUID();
  const start =
    agent === null
      ? { agentId: AUTO, body: { ...body, ...interactiveOf(onInput), maxCost: requireMaxCost(options) }, key }
      : await agreedStart(session, agent, body, onInput, { ...options, idempotencyKey: key });
  const { maxCost } = start.body;
  const client = session.requireClient(options.pay === 'x402' ? { payer: session.payer(maxCost) } : {});
  const asked = { ...options, onInput };
  return options.stream ? stream(session, client, start, asked) : invoke(session, client, start, asked);
}

/** The agent as given, and the text of the task. With --auto there is no agent. */
function readArguments(first: string, second: string | undefined, { auto }: CallOptions) {
  if (auto && second !== undefined)
    throw new CommandError('With --auto, give the task alone: the node chooses the agent.');
  if (auto) return { agent: null, text: first };
  if (second === undefined)
    throw new CommandError('Give the agent, then the task. Without an agent: call --auto <task>.');
  return { agent: first, text: second };
}

function requireMaxCost({ maxCost }: CallOptions): string {
  if (maxCost !== undefined) return maxCost;
  throw new CommandError('Set a limit with --max-cost: with --auto the node chooses agents up to it.');
}

/** The purchase of an agent at its quoted price, agreed to by `--max-cost` or by the person. The name is read once: from here on its id counts. */
async function agreedStart(
  session: Session,
  agent: string,
  body: CallBody,
  onInput: OnInput | null,
  options: CallOptions & { readonly idempotencyKey: string },
): Promise<Start> {
  const agentId = await agentIdOf(session, agent);
  const { quoteId, cost, name } = await agreePrice(session, agentId, body, options);
  if (agent !== agentId) session.terminal.note(`Calling "${oneLine(name)}" (${agentId}) for ${cost} USDC.`);
  return { agentId, quoteId, key: options.idempotencyKey, body: { ...body, ...interactiveOf(onInput), maxCost: cost } };
}

/** The price as locked by a quote. Throws unless it is within `--max-cost`, or the person agrees. */
async function agreePrice(
  session: Session,
  agentId: string,
  body: CallBody,
  { maxCost, idempotencyKey }: Pick<CallOptions, 'maxCost'> & { readonly idempotencyKey: string },
): Promise<Quoted> {
  const client = session.requireClient();
  if (maxCost === undefined && !session.isYes && !session.terminal.isInteractive)
    throw new CommandError(
      'Set a limit with --max-cost, or accept any price with --yes: there is no terminal to ask on.',
    );
  const { name } = await client.getAgent({ params: { id: agentId } });
  // The quote is part of the purchase: with another one, the same key would be refused as used for another request.
  const { quoteId, estimatedCost: cost } = await client.quoteInvocation(
    { params: { agentId }, body },
    { idempotencyKey: quoteKeyOf(idempotencyKey) },
  );
  if (maxCost !== undefined) {
    if (parseUsdc(cost) <= parseUsdc(maxCost)) return { quoteId, cost, name };
    throw new CommandError(`The call costs ${cost} USDC, more than --max-cost ${maxCost}. Nothing was spent.`, {
      code: 'OVER_MAX_COST',
      exitCode: EXIT.payment,
    });
  }
  if (parseUsdc(cost) > 0n) await session.confirm(`Pay ${cost} USDC to "${oneLine(name)}" (${agentId})?`);
  return { quoteId, cost, name };
}

interface Start {
  readonly agentId: string;
  /** None for an agent that the node chooses. */
  readonly quoteId?: string;
  /** Idempotency-Key of the purchase. */
  readonly key: string;
  readonly body: CallBody & { readonly maxCost: string };
}

/** The key of the quote that belongs to a purchase; a hash, because keys have at most 255 characters. */
const quoteKeyOf = (idempotencyKey: string): string =>
  `quote-${createHash('sha256').update(idempotencyKey).digest('hex')}`;
/** Reads the input with its numbers as written. */
const readInput = ({ input }: CallOptions) => readObject(input, '--input', { isExact: true });
const capabilityOf = ({ capability }: CallOptions) => (capability ? { capability } : {});
const interactiveOf = (onInput: OnInput | null) => (onInput ? { interactive: true as const } : {});
const headersOf = ({ pay }: CallOptions) => (pay ? { headers: { 'x-payment-method': pay } } : {});

type AskedOptions = CallOptions & { readonly onInput: OnInput | null };

async function invoke(session: Session, client: Client, start: Start, options: AskedOptions): Promise<ExitCode> {
  const { agentId, body, quoteId, key } = start;
  const begin = (idempotencyKey: string) =>
    agentId === AUTO
      ? client.invokeAuto({ body, ...headersOf(options) }, { idempotencyKey })
      : client.invokeAgent(
          { params: { agentId }, query: { quote: quoteId }, body, ...headersOf(options) },
          { idempotencyKey },
        );
  const created = await whileWaiting(
    () => null,
    () => once(key, begin),
  );
  if (agentId === AUTO) session.terminal.note(`The node chose ${created.agentId}.`);
  if (options.async && !('paymentMethod' in created)) {
    session.terminal.result(created, () => created.requestId);
    session.terminal.note(`Started. Get the result with: agentnet calls wait ${created.requestId}`);
    return EXIT.done;
  }
  const isOver = 'paymentMethod' in created && created.status !== 'input_required';
  const record = isOver ? created : await waitForEnd(session, client, created.requestId, options.onInput);
  if (options.out !== undefined) await saveFiles(session, client, record, options.out);
  return showRecord(session, record);
}

async function stream(session: Session, client: Client, start: Start, options: AskedOptions): Promise<ExitCode> {
  const { agentId, body, quoteId, key } = start;
  return once(key, (idempotencyKey) =>
    endOf(
      session,
      client,
      client.invokeStreaming(agentId, body, {
        ...(quoteId === undefined ? {} : { quote: quoteId }),
        ...headersOf(options),
        idempotencyKey,
      }),
      options.onInput,
    ),
  );
}
