import { unitText } from '@agent-network/contracts/agents/price-text';
import type { RequestRecord } from '@agent-network/contracts/invocations/invocations';
import { isTerminal } from '@agent-network/contracts/invocations/stream-event-types';
import {
  type Client,
  type InputAnswer,
  isApiError,
  NoAnswerError,
  type OnInput,
  type StreamEvent,
} from '@agent-network/sdk';
import { CommandError, EXIT, type ExitCode, sentence } from '../exit-codes.ts';
import { formatFacts, oneLine, withoutControls } from '../output/table.ts';
import type { Session } from '../session.ts';

const FIRST_PAUSE_MS = 250;
const MAX_PAUSE_MS = 3_000;
/** Time to keep polling a node that is away, for example while it restarts. */
const MAX_AWAY_MS = 60_000;
/** The command that waits for a request. */
const WAIT = 'calls wait';

/** Without an answer, nothing happens to a request that asks. */
const isOpen = ({ status }: { status: string }) => status === 'pending' || status === 'processing';

/**
 * Prints the id, and the command to wait on with, when the user stops waiting: the request is paid for and continues. `null`: the node has
 * not sent the id yet.
 */
export async function whileWaiting<T>(
  requestId: () => string | null,
  work: () => Promise<T>,
  command: string = WAIT,
): Promise<T> {
  const onInterrupt = () => {
    const id = requestId();
    process.stderr.write(
      id
        ? `\n${id} keeps running. Get the result with: agentnet ${command} ${id}\n`
        : '\nThe request may have been accepted and may still be running. Check with: agentnet calls list\n',
    );
    process.exit(EXIT.interrupted);
  };
  process.once('SIGINT', onInterrupt);
  try {
    return await work();
  } finally {
    process.off('SIGINT', onInterrupt);
  }
}

const isAway = (error: unknown): boolean =>
  error instanceof NoAnswerError || (isApiError(error) && (error.status >= 500 || error.code === 'RATE_LIMITED'));

/** Work that runs at the node: its id, the command that waits for it, and how to read it. */
interface Awaited<T> {
  readonly id: string;
  readonly command: string;
  readonly read: () => Promise<T>;
}

/** Reads work that runs; null: the node is away. Throws an error with its id once the node was away for too long. */
function look<T>({ id, command, read }: Awaited<T>, heardMs: number): Promise<T | null> {
  return read().catch((error: unknown) => {
    if (!isAway(error)) throw error;
    if (performance.now() - heardMs < MAX_AWAY_MS) return null;
    const message = error instanceof Error ? error.message : String(error);
    throw new CommandError(`${sentence(message)} ${id} keeps running. Get the result with: agentnet ${command} ${id}`, {
      code: 'NO_ANSWER',
      exitCode: EXIT.failed,
    });
  });
}

type Progress = RequestRecord['progress'];

/** The agent's report, in brackets. */
function reportText({ progress }: { readonly progress?: Progress }): string {
  const { fraction, message = '' } = progress ?? {};
  const parts = [fraction === undefined ? '' : `${Math.floor(100 * fraction)}%`, oneLine(message)];
  const text = parts.filter(Boolean).join(', ');
  return text === '' ? '' : ` (${text})`;
}

/** Polls until the work has ended, and shows on a terminal that it waits. */
export function waitUntilEnded<T extends { readonly status: string; readonly progress?: Progress }>(
  { terminal }: Session,
  awaited: Awaited<T>,
): Promise<T> {
  const { id } = awaited;
  const startMs = performance.now();
  return whileWaiting(
    () => id,
    async () => {
      let heardMs = startMs;
      for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(MAX_PAUSE_MS, pauseMs * 1.5)) {
        const record = await look(awaited, heardMs);
        terminal.progress('');
        if (record && !isOpen(record)) return record;
        if (record) heardMs = performance.now();
        const seconds = Math.round((performance.now() - startMs) / 1000);
        const state = record ? ` is ${record.status}${reportText(record)}` : ': the node does not answer, retrying';
        terminal.progress(`${id}${state}, ${seconds} s. Ctrl-C stops waiting, not the request.`);
        await new Promise((resolve) => setTimeout(resolve, pauseMs));
      }
    },
    awaited.command,
  );
}

/** Polls a request until it has ended, or waits for an answer that `onInput` does not give. */
export async function waitForEnd(
  session: Session,
  client: Client,
  requestId: string,
  onInput: OnInput | null = null,
): Promise<RequestRecord> {
  for (;;) {
    const record = await waitUntilEnded(session, {
      id: requestId,
      command: WAIT,
      read: async () => (await client.getInvocation({ params: { requestId } })) as RequestRecord,
    });
    const { inputRequest } = record;
    if (record.status !== 'input_required' || !inputRequest || !onInput) return record;
    await answerOnce(client, record, await onInput(inputRequest, record));
  }
}

/** Sends an answer. One that comes too late, or after another, changes nothing: the request tells what came of it. */
async function answerOnce(
  client: Client,
  { requestId, inputRequest }: RequestRecord,
  answer: InputAnswer,
): Promise<void> {
  const body = { ...answer, inputId: inputRequest?.inputId ?? '' };
  await client.answerInput({ params: { requestId }, body }).catch((error: unknown) => {
    if (!isApiError(error) || !error.code.startsWith('INPUT_')) throw error;
  });
}

/** Shows the end of a request: the result, or why it failed on stderr. JSON has the record in both cases. */
export function showRecord(session: Session, record: RequestRecord): ExitCode {
  const { terminal } = session;
  if (terminal.isJson || record.status === 'completed') terminal.result(record, () => textOf(record.result));
  if (record.status === 'completed') {
    terminal.note(
      terminal.dim(`${record.requestId}: ${record.cost} USDC${record.duration ? `, ${record.duration}` : ''}`),
    );
    return EXIT.done;
  }
  if (record.inputRequest) terminal.note(questionText(record));
  terminal.failure({
    exitCode: EXIT.failed,
    code: record.error?.code ?? record.status,
    message: failureText(record),
    requestId: record.requestId,
  });
  return EXIT.failed;
}

/** The question of a request, and how it is answered. */
const questionText = ({ requestId, inputRequest }: RequestRecord): string =>
  `The agent asks: "${oneLine(inputRequest?.message ?? '')}"\nAnswer until ${inputRequest?.expiresAt} with: agentnet calls answer ${requestId}`;

/** "Failed: the agent could not be reached. 0.02 USDC was refunded." */
export function failureText({ status, error, refund }: Pick<RequestRecord, 'status' | 'error' | 'refund'>): string {
  const reason = error ? `: ${error.message.replace(/^(The|An?|This) /, (article) => article.toLowerCase())}` : '';
  const outcome = sentence(`${status.slice(0, 1).toUpperCase()}${status.slice(1)}${reason}`);
  return refund ? `${outcome} ${refund} USDC was refunded.` : outcome;
}

/** A result for people: its text, if it has one, without control sequences of terminals. */
export const textOf = (result: unknown): string => withoutControls(rawTextOf(result));

function rawTextOf(result: unknown): string {
  if (typeof result === 'string') return result;
  if (result !== null && typeof result === 'object') {
    for (const name of ['text', 'content', 'output', 'answer', 'message']) {
      const value = (result as Record<string, unknown>)[name];
      if (typeof value === 'string') return value;
    }
  }
  return JSON.stringify(result ?? null, null, 2);
}

/** Writes the events of a stream as they come, until its end. */
export async function endOf(
  session: Session,
  client: Client,
  events: AsyncIterable<StreamEvent>,
  onInput: OnInput | null = null,
): Promise<ExitCode> {
  const shown = { requestId: null as string | null, hasText: false };
  return whileWaiting(
    () => shown.requestId,
    async () => {
      for await (const event of events) {
        shown.requestId = event.data.requestId;
        if (session.terminal.isJson) session.terminal.item(event, () => '');
        if (isTerminal(event.type)) return endWith(session, event.data as RequestRecord, shown.hasText);
        if (event.type === 'invocation.chunk' && !session.terminal.isJson) {
          shown.hasText = true;
          session.terminal.item(null, () => textOf(chunkOf(event.data)));
        }
      }
      const { requestId } = shown;
      return requestId === null
        ? EXIT.failed
        : showRecord(session, await waitForEnd(session, client, requestId, onInput));
    },
  );
}

const chunkOf = (data: { chunk?: unknown }): unknown => (data.chunk === undefined ? data : data.chunk);

/** The end of a stream: its result, unless the pieces of it have been shown. */
function endWith(session: Session, record: RequestRecord, hasText: boolean): ExitCode {
  const { terminal } = session;
  if (terminal.isJson) return record.status === 'completed' ? EXIT.done : EXIT.failed;
  if (record.status !== 'completed' || !hasText) return showRecord(session, record);
  terminal.item(null, () => '\n');
  terminal.note(terminal.dim(`${record.requestId}: ${record.cost} USDC`));
  return EXIT.done;
}

/** "1,200 input token, 310 output token (upstream)" */
export const usageText = (usage: RequestRecord['usage']): string | null =>
  usage
    ? `${usage.units.map(({ unit, quantity }) => `${grouped(quantity)} ${unitText(unit)}`).join(', ')} (${usage.source})`
    : null;

const grouped = (quantity: string): string => quantity.replace(/\B(?<!\.\d*)(?=(\d{3})+(?!\d))/g, ',');

/** The facts of a request, for people. */
export const recordFacts = (record: RequestRecord): string =>
  formatFacts([
    ['request', record.requestId],
    ['agent', record.agentId],
    ['status', record.status],
    ['task', record.task.slice(0, 200)],
    ['cost', record.cost && `${record.cost} USDC`],
    ['refund', record.refund && `${record.refund} USDC`],
    ['used', usageText(record.usage)],
    ['duration', record.duration],
    ['paid', record.paymentMethod],
    ['created', record.createdAt],
    ['error', record.error && `${record.error.code}: ${record.error.message}`],
    ['result', record.result === null || record.result === undefined ? null : textOf(record.result)],
  ]);
