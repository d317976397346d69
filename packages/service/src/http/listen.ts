import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createAdaptorServer } from '@hono/node-server';
import type { Hono } from 'hono';
import type { Config } from '../config.ts';
import { AppError } from '../lib/app-error.ts';
import type { StopStep } from '../lib/process/graceful-stop.ts';
import { answerUnread } from './answer/answer-unread.ts';
import { createAnswerWatch } from './answer/answer-watch.ts';
import { commonHeaders } from './answer/common-headers.ts';
import { toErrorAnswer } from './answer/errors.ts';
import { inTurn } from './request/in-turn.ts';
import { limitConnections } from './request/limit-connections.ts';

type Fetch = Hono['fetch'];

/** Listens at once, so that the address is known; answers 503 until `serve` sets a handler. */
export async function listen(
  config: Pick<Config, 'host' | 'port' | 'connectionLimits' | 'trustedProxies'>,
  stops: StopStep[],
): Promise<{ port: number; serve(fetch: Fetch): void }> {
  let serving: Fetch | null = null;
  const watch = createAnswerWatch();
  const server = createAdaptorServer({
    fetch: inTurn((request, env) => (serving ? serving(request, env) : notYet()), watch),
    serverOptions: {
      maxHeaderSize: 32 * 1024,
      headersTimeout: 10_000,
      requestTimeout: 60_000,
      connectionsCheckingInterval: 5000,
      keepAliveTimeout: 65_000,
    },
  }) as Server;
  server.maxHeadersCount = 100;
  limitConnections(server, config);
  answerUnread(server);
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(config.port, config.host, resolve);
  });
  stops.push({
    name: 'HTTP server',
    stop: () =>
      new Promise<void>((resolve) => {
        watch.stop();
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  });
  return {
    port: (server.address() as AddressInfo).port,
    serve(fetch) {
      serving = fetch;
    },
  };
}

function notYet(): Response {
  const { status, headers, body } = toErrorAnswer(new AppError('UNAVAILABLE', 'The node is starting.'), '');
  return new Response(JSON.stringify(body), {
    status,
    headers: { ...commonHeaders, ...headers, 'content-type': 'application/json' },
  });
}
