import { requestStatuses } from '@agent-network/contracts/invocations/invocations';
import type { Client, StreamEvent } from '@agent-network/sdk';
import { type Command, Option } from 'commander';
import { agentIdOf } from '../agent-id.ts';
import { action, addList } from '../command.ts';
import { CommandError, EXIT, type ExitCode } from '../exit-codes.ts';
import { integer, readObject } from '../output/arguments.ts';
import { noteMore, offsetOf, pageOption } from '../output/pages.ts';
import { formatTable } from '../output/table.ts';
import type { Session } from '../session.ts';
import { answererOf, answerOf } from './answers.ts';
import { endOf, recordFacts, showRecord, textOf, waitForEnd } from './record.ts';

interface ListOptions {
  readonly limit: number;
  readonly status?: (typeof requestStatuses)[number];
  readonly agent?: string;
  readonly cursor?: string;
  readonly page?: number;
}

/** Pause after an event that ends the reading of stored ones: a later event would be a new one. */
const QUIET_MS = 1_000;
/** Maximum time of reading, for agents that never stop sending events. */
const MAX_LOG_MS = 10_000;

export function addCalls(program: Command): void {
  const calls = program.command('calls').description('your requests');
  addList(calls)
    .description('newest first')
    .addOption(new Option('--limit <count>').argParser(integer(1, 100)).default(20))
    .addOption(new Option('--status <status>').choices([...requestStatuses]))
    .option('--agent <agent>', 'only calls to this agent (its id, slug or name)')
    .addOption(pageOption())
    .addOption(new Option('--cursor <cursor>', 'nextCursor of the previous page').conflicts('page'))
    .action(action<[ListOptions]>(list));
  calls.command('show').argument('<request>').description('a request and its result').action(action<[string]>(show));
  calls.command('wait').argument('<request>').description('wait until a request ends').action(action<[string]>(wait));
  calls
    .command('answer')
    .argument('<request>')
    .argument('[input]', 'a JSON object, or @FILE; default: asks')
    .option('--decline', 'tell the agent that there is no answer')
    .description('answer the question that a request waits for, and wait until it ends')
    .action(action<[string, string | undefined, { decline?: boolean }]>(answer));
  calls
    .command('cancel')
    .argument('<request>')
    .description('cancel a request; its price is refunded')
    .action(action<[string]>(cancel));
  calls
    .command('export')
    .description('your finished requests with input and result, oldest first, one JSON document per line')
    .option('--cursor <cursor>', 'continue an interrupted export')
    .action(action<[{ cursor?: string }]>(exportAll));
  calls
    .command('logs')
    .argument('<request>')
    .option('-f, --follow', 'follow the request until it ends')
    .description('events of a request')
    .action(action<[string, { follow?: boolean }]>(logs));
}

async function list(session: Session, { limit, status, agent, cursor, page: number }: ListOptions): Promise<void> {
  const agentId = agent === undefined ? undefined : await agentIdOf(session, agent);
  const page = await session
    .requireClient()
    .listInvocations({ query: { limit, status, agentId, cursor, ...offsetOf(number, limit) } });
  const { terminal } = session;
  terminal.result(page, () =>
    page.requests.length === 0
      ? 'No requests.'
      : formatTable(
          page.requests,
          [
            { title: 'REQUEST', value: (each) => each.requestId },
            { title: 'CREATED', value: (each) => each.createdAt.slice(0, 19).replace('T', ' ') },
            { title: 'AGENT', value: (each) => each.agentName, isFlexible: true },
            { title: 'TASK', value: (each) => each.task, isFlexible: true },
            { title: 'STATUS', value: (each) => each.status },
            { title: 'COST', value: (each) => each.cost ?? '', alignsRight: true },
          ],
          terminal.columns,
        ),
  );
  noteMore(terminal, page.requests.length, { page: number, cursor, ...page });
}

async function exportAll(session: Session, { cursor }: { cursor?: string }): Promise<void> {
  const client = session.requireClient();
  for (let next: string | null | undefined = cursor; next !== null; ) {
    const page = await client.exportRequests({ query: next === undefined ? {} : { cursor: next } });
    for (const request of page.requests) session.terminal.item(request, () => `${JSON.stringify(request)}\n`);
    next = page.nextCursor;
    if (next !== null) session.terminal.note(`Continue with: --cursor ${next}`);
  }
}

async function show(session: Session, requestId: string): Promise<void> {
  const record = await session.requireClient().getInvocation({ params: { requestId } });
  session.terminal.result(record, () => recordFacts(record as never));
}

const wait = async (session: Session, requestId: string): Promise<ExitCode> =>
  showRecord(
    session,
    await waitForEnd(session, session.requireClient(), requestId, await answererOf(session, undefined)),
  );

async function answer(
  session: Session,
  requestId: string,
  input: string | undefined,
  { decline }: { decline?: boolean },
): Promise<ExitCode> {
  const client = session.requireClient();
  const record = await client.getInvocation({ params: { requestId } });
  if (!record.inputRequest) throw new CommandError(`${requestId} does not wait for an answer: it is ${record.status}.`);
  const onInput = await answererOf(session, undefined);
  const given = decline
    ? answerOf('decline', 'input')
    : input === undefined
      ? await onInput?.(record.inputRequest, record as never)
      : answerOf(await readObject(input, 'The input'), 'input');
  if (!given) throw new CommandError('Give the input, or --decline: there is no terminal to ask on.');
  await client.answerInput({ params: { requestId }, body: { ...given, inputId: record.inputRequest.inputId } });
  return showRecord(session, await waitForEnd(session, client, requestId, onInput));
}

async function cancel(session: Session, requestId: string): Promise<void> {
  const answer = await session.requireClient().cancelInvocation({ params: { requestId } });
  session.terminal.result(answer, () => `Cancelled ${requestId}.`);
}

async function logs(session: Session, requestId: string, { follow }: { follow?: boolean }): Promise<ExitCode> {
  const client = session.requireClient();
  const { terminal } = session;
  const record = await client.getInvocation({ params: { requestId } });
  const isOpen = record.status === 'pending' || record.status === 'processing';
  if (follow && isOpen) return endOf(session, client, client.stream(requestId));
  const events = isOpen ? untilQuiet(client, requestId) : client.stream(requestId);
  for await (const event of events)
    terminal.item(event, () => `${event.id}\t${event.type}\t${textOf(event.data).replaceAll('\n', ' ')}\n`);
  return EXIT.done;
}

/** The events of an open request until now. It has no last event yet: those count that arrive without a pause. */
async function* untilQuiet(client: Client, requestId: string): AsyncGenerator<StreamEvent> {
  const stop = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  let endsAtMs = Number.POSITIVE_INFINITY;
  try {
    for await (const event of client.stream(requestId, { signal: stop.signal })) {
      yield event;
      endsAtMs = Math.min(endsAtMs, performance.now() + MAX_LOG_MS);
      if (performance.now() > endsAtMs) return;
      clearTimeout(timer);
      timer = setTimeout(() => stop.abort(), QUIET_MS);
    }
  } catch (error) {
    if (!stop.signal.aborted) throw error;
  } finally {
    clearTimeout(timer);
    stop.abort();
  }
}
