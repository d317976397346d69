/** Receives events instead of asking for them: registers an endpoint, invokes an agent, and believes only what verifies. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import {
  createClient,
  createPayer,
  verifyWebhook,
  type WebhookEvent,
  WebhookVerificationError,
} from '@agent-network/sdk';
import { agentNamed, firstWallet, type Local, runExample } from './local.ts';

interface Received {
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
  readonly event: WebhookEvent;
}

/** Keeps what verifies, once for each `webhook-id`, and resolves `until` with the first that fits. */
async function listenForEvents() {
  const received = new Map<string, Received>();
  const waiting: { fits: (event: WebhookEvent) => boolean; resolve: (received: Received) => void }[] = [];
  const endpoint = { secret: '', url: '' };
  const server = createServer(async (request, response) => {
    const body = await text(request);
    try {
      const event = await verifyWebhook({ secret: endpoint.secret, headers: request.headers, body });
      const entry = { headers: request.headers, body, event };
      received.set(event.id, entry);
      for (const { fits, resolve } of waiting) if (fits(event)) resolve(entry);
      response.writeHead(204).end();
    } catch (error) {
      response.writeHead(error instanceof WebhookVerificationError ? 400 : 500).end();
    }
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  endpoint.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  const until = (fits: (event: WebhookEvent) => boolean) => {
    const known = [...received.values()].find(({ event }) => fits(event));
    return known ?? new Promise<Received>((resolve) => waiting.push({ fits, resolve }));
  };
  return { endpoint, until, stop: () => server.close() };
}

export async function run(local: Local): Promise<void> {
  const payer = createPayer({ privateKey: firstWallet(local).privateKey, maxPerCall: '0.05' });
  const client = createClient({ baseUrl: local.baseUrl, apiKey: local.apiKey, payer });
  const receiver = await listenForEvents();
  const { webhookId, secret } = await client.createWebhook({
    body: { url: receiver.endpoint.url, eventTypes: ['invocation.completed', 'invocation.failed'] },
  });
  receiver.endpoint.secret = secret;
  try {
    const test = await client.testWebhook({ params: { webhookId } });
    assert.equal(test.status, 'delivered', 'the test event was taken');

    const { requestId } = await client.invokeAgent({
      params: { agentId: agentNamed(local, 'Echo').id },
      headers: { 'x-payment-method': 'x402' },
      body: { task: 'say hello', input: { to: 'the receiver' } },
    });
    const { event, headers, body } = await receiver.until(
      (each) => each.type === 'invocation.completed' && each.data.requestId === requestId,
    );
    assert.equal(event.type, 'invocation.completed');
    assert.deepEqual(event.data, await client.getInvocation({ params: { requestId } }), 'it is what GET answers');

    const forged = body.replace('say hello', 'say nothing');
    await assert.rejects(verifyWebhook({ secret, headers, body: forged }), WebhookVerificationError);
    console.log(`${event.type} of ${requestId} came as ${event.id}; a forged copy of it was refused`);
  } finally {
    await client.deleteWebhook({ params: { webhookId } });
    receiver.stop();
  }
}

if (import.meta.main) await runExample(run);
