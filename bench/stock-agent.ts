import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Peer, startPeer } from './peers.ts';
import type { ServiceUnderTest } from './service-under-test.ts';
import type { StopList } from './stop-list.ts';

/** Credentials that an agent of a node needs beside a stock paid route: the proof of its endpoint. */
interface Identity {
  readonly id: string;
  readonly identityToken: string;
}

/**
 * Registers a stock x402 resource server as an agent: every call reaches its paid route as the node sent it, and its answers, 402
 * included, go back as they are. Returns the agent's id once the node calls it.
 */
export async function startStockAgent(
  stops: StopList,
  service: ServiceUnderTest,
  framework: 'express' | 'hono',
): Promise<{ agentId: string; name: string }> {
  const peer = await startPeer(stops, framework, service.local);
  const registered = Promise.withResolvers<Identity>();
  const front = createServer((message, response) => void serve(peer, registered.promise, message, response));
  await new Promise<void>((resolve) => front.listen(0, '127.0.0.1', resolve));
  stops.add(async () => void front.close());
  const endpoint = `http://127.0.0.1:${(front.address() as AddressInfo).port}/work`;
  const { baseUrl, apiKey } = service.local;
  const answer = await fetch(`${baseUrl}/agents`, {
    method: 'POST',
    headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' },
    body: JSON.stringify({
      name: `Stock ${framework}`,
      description: 'A stock x402 server that bills by itself.',
      capabilities: ['echo'],
      rates: { perRequest: '0.05' },
      endpoint,
    }),
  });
  assert.equal(answer.status, 200, 'the stock server registers as an agent');
  const { data } = (await answer.json()) as { data: Identity };
  registered.resolve(data);
  while (!(await isOnline(`${baseUrl}/agents/${data.id}`))) await sleep(50);
  return { agentId: data.id, name: peer.name };
}

async function isOnline(url: string): Promise<boolean> {
  const { data } = (await (await fetch(url)).json()) as { data: { status: string } };
  return data.status === 'online';
}

async function serve(peer: Peer, identity: Promise<Identity>, message: IncomingMessage, response: ServerResponse) {
  if (message.method !== 'POST') return void response.writeHead(204).end();
  const chunks: Buffer[] = [];
  for await (const chunk of message) chunks.push(chunk);
  const text = Buffer.concat(chunks).toString('utf8');
  const body = JSON.parse(text);
  if (body.type === 'verification') {
    const { id, identityToken } = await identity;
    const proof = createHmac('sha256', identityToken).update(
      `${body.challenge}\n${id}\nhttp://${message.headers.host}/work`,
    );
    return void response.end(JSON.stringify({ agent_id: id, response: proof.digest('hex') }));
  }
  const { connection: _hop, 'content-length': _length, 'accept-encoding': _encoding, ...headers } = message.headers;
  const answer = await fetch(peer.url, { method: 'POST', headers: headers as Record<string, string>, body: text });
  response.writeHead(
    answer.status,
    Object.fromEntries(
      [...answer.headers].filter(([name]) => !/^(transfer-encoding|connection|keep-alive)$/.test(name)),
    ),
  );
  response.end(Buffer.from(await answer.arrayBuffer()));
}
