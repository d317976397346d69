/** The yardstick of streams: Node's own HTTP server that says the same from memory, without an agent behind it and without a record. */
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { monotonicUs } from './monotonic.ts';
import { gateOpened, type StreamPlan } from './stream-plan.ts';

const write = (response: ServerResponse, id: number, type: string, data: unknown) =>
  response.write(`id: ${id}\nevent: ${type}\ndata: ${JSON.stringify(data)}\n\n`);

async function stream(response: ServerResponse, plan: StreamPlan): Promise<void> {
  const requestId = 'req_plain';
  const { chunks, everyMs, text } = plan;
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  write(response, 1, 'invocation.created', { requestId });
  write(response, 2, 'invocation.status', { requestId });
  await gateOpened(plan);
  await sleep(Math.random() * everyMs);
  for (let index = 0; index < chunks; index++) {
    await sleep(everyMs);
    write(response, index + 3, 'invocation.chunk', { index, text, sentUs: monotonicUs(), requestId });
  }
  write(response, chunks + 3, 'invocation.completed', { requestId });
  response.end();
}

const server = createServer(async (request, response) => {
  if (request.url === '/metrics') {
    response.end(`process_resident_memory_bytes ${process.memoryUsage.rss()}\n`);
    return;
  }
  let body = '';
  for await (const part of request) body += part;
  await stream(response, (JSON.parse(body) as { input: StreamPlan }).input);
});
server.listen(0, '127.0.0.1', () => console.log(`http://127.0.0.1:${(server.address() as AddressInfo).port}`));
