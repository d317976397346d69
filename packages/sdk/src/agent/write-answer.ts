import type { ServerResponse } from 'node:http';
import type { Answer, Answering } from './answer-once.ts';

/** Writes an answer as JSON, unless the caller is gone. */
export function writeAnswer(response: ServerResponse, answer: Answer, isLast: boolean): void {
  if (response.destroyed) return;
  const endsConnection = isLast || answer.status === 413 ? { connection: 'close' } : {};
  response.writeHead(answer.status, { 'content-type': 'application/json', ...endsConnection }).end(answer.body);
}

const frame = (event: string, data: string) => `event: ${event}\ndata: ${data}\n\n`;

/**
 * Writes what is said as server-sent events, and then the `result`, or the `error`. A call that ends before anything was said is
 * answered plainly, so that its status tells the node whether to repeat it.
 */
export async function writeStream(response: ServerResponse, { said, answer }: Answering, isLast: boolean) {
  for await (const { event, data } of said.follow()) {
    if (response.destroyed) return;
    if (!response.headersSent)
      response.writeHead(200, {
        'content-type': 'text/event-stream',
        'cache-control': 'no-store',
        connection: 'close',
      });
    response.write(frame(event, data));
  }
  const end = await answer;
  if (!response.headersSent) writeAnswer(response, end, isLast);
  else if (!response.destroyed) response.end(frame(end.status === 200 ? 'result' : 'error', end.body));
}
