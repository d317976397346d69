import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { pipeline } from 'node:stream/promises';
import { LocalChainError } from '../local-chain-error.ts';
import { kindOf } from './chain-methods.ts';
import type { ChainSequencer } from './chain-sequencer.ts';
import type { ChainUpstream, UpstreamAnswer } from './chain-upstream.ts';
import type { WriteCall } from './chain-writer.ts';

/** The chain's public endpoint: JSON-RPC over HTTP on 127.0.0.1. Reads pass through to anvil, changes go through the sequencer. */
export type ChainFront = {
  port: number;
  rpcUrl: string;
  /** Serves the calls that are waiting, and every later one. */
  open(parts: FrontParts): void;
  close(): Promise<void>;
};

export type FrontParts = { upstream: ChainUpstream; sequencer: ChainSequencer };

type Call = { jsonrpc?: string; id?: unknown; method?: unknown; params?: unknown };

const MAX_BODY_BYTES = 32 * 1024 * 1024;
/** Longer than clients keep an idle connection for reuse. */
const KEEP_ALIVE_MS = 65_000;
/** Time for a body to arrive, for anvil to answer a read, and for a client to take anything of an answer. */
const MAX_BODY_MS = 60_000;
const MAX_READ_MS = 60_000;
const MAX_IDLE_MS = 120_000;
const HEADERS = { 'content-type': 'application/json' };

/** Listens on the port, or any free one for 0; calls wait until `open`. Throws `PORT_TAKEN`. */
export async function listenAsChain(wantedPort: number): Promise<ChainFront> {
  const opened = Promise.withResolvers<FrontParts>();
  const server = createServer((request, response) => {
    answer({ request, response, gone: goneOf(response) }, opened.promise).catch(() => response.destroy());
  });
  server.keepAliveTimeout = KEEP_ALIVE_MS;
  server.requestTimeout = MAX_BODY_MS;
  server.setTimeout(MAX_IDLE_MS);
  const port = await listen(server, wantedPort);
  return {
    port,
    rpcUrl: `http://127.0.0.1:${port}`,
    open: opened.resolve,
    async close() {
      const closed = new Promise((resolve) => server.close(resolve));
      server.closeAllConnections();
      await closed;
    },
  };
}

function listen(server: Server, port: number): Promise<number> {
  return new Promise((resolve, reject) => {
    const taken = (error: Error) =>
      reject(new LocalChainError('PORT_TAKEN', `The local chain cannot listen on port ${port}: ${error.message}`));
    server.once('error', taken);
    server.listen(port, '127.0.0.1', () => {
      server.off('error', taken);
      resolve((server.address() as AddressInfo).port);
    });
  });
}

/** A request with a signal for the end of its connection, so that an abandoned read does not keep a connection to anvil. */
type Asked = { request: IncomingMessage; response: ServerResponse; gone: AbortSignal };

function goneOf(response: ServerResponse): AbortSignal {
  const left = new AbortController();
  response.once('close', () => left.abort());
  return left.signal;
}

/** Answers one request. On an unknown outcome it cuts the connection, as a dying chain would, instead of answering with an error. */
async function answer({ request, response, gone }: Asked, opened: Promise<FrontParts>): Promise<void> {
  const { origin } = request.headers;
  if (!isOwnHost(request.headers.host) || !isOwnOrigin(origin)) return void response.writeHead(403).end();
  if (origin !== undefined) response.setHeader('access-control-allow-origin', origin).setHeader('vary', 'origin');
  if (request.method === 'OPTIONS') return preflight(response);
  if (request.method !== 'POST') return void response.writeHead(405, { allow: 'POST, OPTIONS' }).end();
  const body = await readBody(request);
  if (body === null) return void response.writeHead(413, { connection: 'close' }).end();
  const parts = await opened;
  const signal = AbortSignal.any([gone, AbortSignal.timeout(MAX_READ_MS)]);
  const calls = parse(body);
  if (calls === undefined) return send(response, failed(null, -32700, 'the request is not JSON'));
  if (isReading(calls)) return passOn(await parts.upstream.forward(body, signal), response, signal);
  send(response, Array.isArray(calls) ? await answerBatch(calls, parts, gone) : await answerOne(calls as Call, parts));
}

const LOOPBACK = /^(localhost|127(\.\d{1,3}){3}|\[::1\])$/;

/** A name of the web that leads here is that of a page, which would read this chain as its own site. */
const isOwnHost = (host = ''): boolean => LOOPBACK.test(URL.parse(`http://${host}`)?.hostname ?? '');

/** Programs name no origin. Pages of this machine and wallets in the browser may call; pages of the web may not. */
const isOwnOrigin = (origin: string | undefined): boolean =>
  origin === undefined || /^[a-z]+-extension:/.test(origin) || LOOPBACK.test(URL.parse(origin)?.hostname ?? '');

function preflight(response: ServerResponse): void {
  const allowed = { 'access-control-allow-methods': 'POST', 'access-control-allow-headers': '*' };
  response.writeHead(204, { ...HEADERS, ...allowed }).end();
}

async function readBody(request: IncomingMessage): Promise<Buffer | null> {
  const parts: Buffer[] = [];
  let bytes = 0;
  for await (const part of request) {
    bytes += (part as Buffer).length;
    if (bytes > MAX_BODY_BYTES) return null;
    parts.push(part as Buffer);
  }
  return Buffer.concat(parts);
}

function parse(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString('utf8'));
  } catch {
    return undefined;
  }
}

const methodOf = (call: unknown): string =>
  typeof call === 'object' && call !== null && typeof (call as Call).method === 'string'
    ? String((call as Call).method)
    : '';

const isReading = (calls: unknown): boolean =>
  Array.isArray(calls) ? calls.every((each) => isReading(each)) : kindOf(methodOf(calls)) === 'read';

async function passOn(from: IncomingMessage, to: ServerResponse, signal: AbortSignal): Promise<void> {
  try {
    to.writeHead(from.statusCode ?? 502, { ...HEADERS, ...lengthOf(from) });
    await pipeline(from, to, { signal });
  } finally {
    // Read to its end it frees the connection to anvil; otherwise this ends it.
    from.destroy();
  }
}

function lengthOf({ headers }: IncomingMessage): Record<string, string> {
  const length = headers['content-length'];
  return length === undefined ? {} : { 'content-length': length };
}

function send(response: ServerResponse, value: unknown): void {
  response.writeHead(200, HEADERS).end(JSON.stringify(value));
}

/** Runs a batch in order, so that a read after a change sees it; consecutive changes are submitted together. */
async function answerBatch(calls: readonly Call[], parts: FrontParts, gone: AbortSignal): Promise<unknown[]> {
  const answers: unknown[] = [];
  for (let start = 0; start < calls.length; ) {
    const reads = isReading(calls[start]);
    let end = start + 1;
    while (end < calls.length && isReading(calls[end]) === reads) end += 1;
    const run = calls.slice(start, end);
    answers.push(
      ...(await (reads ? readAll(run, parts, gone) : Promise.all(run.map((call) => answerOne(call, parts))))),
    );
    start = end;
  }
  return answers;
}

async function readAll(calls: readonly Call[], { upstream }: FrontParts, gone: AbortSignal): Promise<unknown[]> {
  const signal = AbortSignal.any([gone, AbortSignal.timeout(MAX_READ_MS)]);
  const response = await upstream.forward(Buffer.from(JSON.stringify(calls)), signal);
  const answers = parse(Buffer.concat(await response.toArray({ signal })));
  if (!Array.isArray(answers)) throw new Error('anvil did not answer a batch with a list');
  return answers;
}

async function answerOne(call: Call, parts: FrontParts): Promise<unknown> {
  const id = (call as Call | null)?.id ?? null;
  const method = methodOf(call);
  const params = (call as Call | null)?.params ?? [];
  if (method === '' || !Array.isArray(params))
    return failed(id, -32600, 'a call has a method and a list of parameters');
  switch (kindOf(method)) {
    case 'read':
      throw new Error('reads do not go through the sequencer');
    case 'refused':
      return failed(
        id,
        -32601,
        `${method} is not supported by the local chain: it could not be replayed after a crash`,
      );
    case 'sendSync':
      return { jsonrpc: '2.0', id, ...(await sendAndRead({ method, params }, parts)) };
    default:
      return { jsonrpc: '2.0', id, ...(await parts.sequencer.submit({ method, params })) };
  }
}

async function sendAndRead({ method, params }: WriteCall, parts: FrontParts): Promise<UpstreamAnswer> {
  const sent = await parts.sequencer.submit({ method: method.replace(/Sync$/, ''), params: params.slice(0, 1) });
  return sent.error ? sent : parts.upstream.call('eth_getTransactionReceipt', [sent.result]);
}

const failed = (id: unknown, code: number, message: string) => ({ jsonrpc: '2.0', id, error: { code, message } });
