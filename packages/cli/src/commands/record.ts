import type { RequestRecord } from '@agent-network/contracts/invocations/invocations';
import type { Client, StreamEvent } from '@agent-network/sdk';
import { EXIT, type ExitCode } from '../exit-codes.ts';
import { formatFacts } from '../output/table.ts';
import type { Session } from '../session.ts';

const FIRST_PAUSE_MS = 250;
const LONGEST_PAUSE_MS = 3_000;

const isOpen = ({ status }: { status: string }) => status === 'pending' || status === 'processing';

/** Names the request when the person stops waiting: it is paid for, and goes on. */
export async function whileWaiting<T>(session: Session, requestId: () => string | null, work: () => Promise<T>): Promise<T> {
  const onInterrupt = () => {
    const id = requestId();
    if (id) process.stderr.write(`\n${id} goes on. Its result: agentnet calls wait ${id}\n`);
    process.exit(EXIT.interrupted);
  };
  process.once('SIGINT', onInterrupt);
  try {
    return await work();
  } finally {
    process.off('SIGINT', onInterrupt);
  }
}

/** Polls a request until it has ended. */
export const waitForEnd = (session: Session, client: Client, requestId: string): Promise<RequestRecord> =>
  whileWaiting(
    session,
    () => requestId,
    async () => {
      for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(LONGEST_PAUSE_MS, pauseMs * 1.5)) {
        const record = await client.getInvocation({ params: { requestId } });
        if (!isOpen(record)) return record as RequestRecord;
        await new Promise((resolve) => setTimeout(resolve, pauseMs));
      }
    },
  );

/** Shows the end of a request. A failed one is shown too; its reason goes to stderr. */
export function showRecord(session: Session, record: RequestRecord): ExitCode {
  const { terminal } = session;
  terminal.result(record, () => textOf(record.result));
  if (record.status === 'completed') {
    terminal.note(terminal.dim(`${record.requestId}: ${record.cost} USDC${record.duration ? `, ${record.duration}` : ''}`));
    return EXIT.done;
  }
  const refund = record.refund ? ` ${record.refund} USDC came back.` : '';
  terminal.failure({
    exitCode: EXIT.failed,
    code: record.error?.code ?? record.status,
    message: `The request was ${record.status}${record.error ? `: ${record.error.message}` : ''}.${refund}`,
    requestId: record.requestId,
  });
  return EXIT.failed;
}

/** A result for people: its text, if it has one. */
export function textOf(result: unknown): string {
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
export async function endOf(session: Session, client: Client, events: AsyncIterable<StreamEvent>): Promise<ExitCode> {
  const { terminal } = session;
  let requestId: string | null = null;
  let hasText = false;
  return whileWaiting(session, () => requestId, async () => {
    for await (const event of events) {
      requestId = event.data.requestId;
      if (event.type === 'invocation.completed' || event.type === 'invocation.failed' || event.type === 'invocation.cancelled') {
        if (terminal.isJson) terminal.item(event, () => '');
        else if (hasText) terminal.item(null, () => '\n');
        return endWith(session, event.data as RequestRecord, hasText);
      }
      if (terminal.isJson) terminal.item(event, () => '');
      else if (event.type === 'invocation.chunk') {
        const { chunk = event.data } = event.data as { chunk?: unknown };
        hasText = true;
        terminal.item(null, () => textOf(chunk));
      }
    }
    return requestId === null ? EXIT.failed : showRecord(session, await waitForEnd(session, client, requestId));
  });
}

function endWith(session: Session, record: RequestRecord, hasText: boolean): ExitCode {
  if (record.status !== 'completed' || (!hasText && !session.terminal.isJson)) return showRecord(session, record);
  session.terminal.note(session.terminal.dim(`${record.requestId}: ${record.cost} USDC`));
  return EXIT.done;
}

/** The facts of a request, for people. */
export const recordFacts = (record: RequestRecord): string =>
  formatFacts([
    ['request', record.requestId],
    ['agent', record.agentId],
    ['status', record.status],
    ['task', record.task.slice(0, 200)],
    ['cost', record.cost && `${record.cost} USDC`],
    ['refund', record.refund && `${record.refund} USDC`],
    ['duration', record.duration],
    ['paid', record.paymentMethod],
    ['created', record.createdAt],
    ['error', record.error && `${record.error.code}: ${record.error.message}`],
    ['result', record.result === null || record.result === undefined ? null : textOf(record.result)],
  ]);
