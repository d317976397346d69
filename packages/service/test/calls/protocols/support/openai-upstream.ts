import type { IncomingMessage, ServerResponse } from 'node:http';
import { json, type Seen, type Speaker, startUpstream, type TestUpstream } from './upstream.ts';

const MODEL = 'test-model-1';

/** A server of chat completions, as the API reference of OpenAI describes them. */
export const startOpenaiUpstream = (): Promise<TestUpstream> => startUpstream(speaker);

const speaker = (): Speaker => ({
  protocol: 'openai',
  path: '/v1',
  upstream: { model: MODEL },
  isWork: ({ method, path }) => method === 'POST' && path === '/v1/chat/completions',
  answer(seen, _request, response, site) {
    if (seen.method === 'GET' && seen.path === '/v1/models')
      return json(response, 200, { object: 'list', data: [{ id: 'another' }, { id: MODEL, object: 'model' }] });
    if (seen.path === '/v1/chat/completions') return complete(seen, response, site);
    json(response, 404, { error: { message: 'no such path' } });
  },
});

async function complete({ body, headers }: Seen, response: ServerResponse, { mode }: TestUpstream): Promise<void> {
  if (mode.kind === 'fails') return json(response, 400, { error: { message: 'no', type: 'invalid_request_error' } });
  if (mode.kind === 'bills') {
    const shown = paymentIn(headers);
    if (shown === null) {
      const required = Buffer.from(JSON.stringify(mode.terms.required)).toString('base64');
      return json(response, 402, {}, { 'payment-required': required });
    }
    await mode.terms.take(shown);
  }
  const text = `${body.messages.at(-1).content}!`;
  const head = { id: 'chatcmpl-1', created: 1, model: `${MODEL}-2026` };
  const usage = { prompt_tokens: 1, completion_tokens: 2, total_tokens: 3 };
  if (!body.stream) {
    const message = { role: 'assistant', content: text };
    return json(response, 200, {
      ...head,
      object: 'chat.completion',
      choices: [{ index: 0, message, finish_reason: 'stop' }],
      usage,
    });
  }
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  const send = (value: unknown) => response.write(`data: ${JSON.stringify(value)}\n\n`);
  const choice = (delta: object, finish: string | null = null) => [{ index: 0, delta, finish_reason: finish }];
  send({ ...head, choices: choice({ role: 'assistant', content: '' }) });
  for (const part of [text.slice(0, 3), text.slice(3)]) send({ ...head, choices: choice({ content: part }) });
  send({ ...head, choices: choice({}, 'stop') });
  if (body.stream_options?.include_usage) send({ ...head, choices: [], usage });
  response.end('data: [DONE]\n\n');
}

/** The payment that a request shows, decoded; null: none. */
export function paymentIn(headers: IncomingMessage['headers']): Record<string, unknown> | null {
  const header = headers['payment-signature'];
  return typeof header === 'string' ? JSON.parse(Buffer.from(header, 'base64').toString()) : null;
}
