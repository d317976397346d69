import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { challengeResponse } from '../../../service/src/agents/health/prove-endpoint.ts';

export interface UnprovenAgent {
  readonly endpoint: string;
  /** From now on it proves itself with this token. */
  learn(agentId: string, identityToken: string): void;
  /** Sets its answer to calls. */
  answer(status: number, body: unknown): void;
  stop(): Promise<void>;
}

/** An agent over real HTTP that is not registered yet: it answers challenges with 503 until it knows its token. */
export async function startUnprovenAgent(): Promise<UnprovenAgent> {
  let known: { agentId: string; identityToken: string } | null = null;
  let reply: { status: number; body: unknown } = { status: 200, body: { result: { text: 'hello <b>there</b>' } } };
  const server = createServer(async (request, response) => {
    const call = request.method === 'POST' ? JSON.parse(await text(request)) : {};
    const send = (status: number, body: unknown) =>
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
    if (request.url !== '/agent') return send(404, {});
    if (call.type !== 'verification') return send(reply.status, reply.body);
    if (!known) return send(503, {});
    const { agentId, identityToken } = known;
    const answer = challengeResponse(identityToken, { challenge: call.challenge, agentId, endpoint });
    return send(200, { agent_id: agentId, response: answer });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const endpoint = `http://127.0.0.1:${(server.address() as AddressInfo).port}/agent`;
  return {
    endpoint,
    learn: (agentId, identityToken) => {
      known = { agentId, identityToken };
    },
    answer: (status, body) => {
      reply = { status, body };
    },
    async stop() {
      server.close();
      server.closeAllConnections();
    },
  };
}
