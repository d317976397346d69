import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { AgentProtocol } from '@agent-network/contracts/agents/upstream';
import type { Harness, TestAccount } from '../../../support/harness.ts';
import { untilStatus } from '../../../support/test-agent.ts';

/** A request that reached an upstream. */
export interface Seen {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingMessage['headers'];
  // biome-ignore lint/suspicious/noExplicitAny: what the node sent, as it is
  readonly body: any;
}

/** How an upstream answers a request for work: in its protocol, or as broken servers do. */
export type Mode =
  | { readonly kind: 'works' }
  /** Answers nothing, until the connection is closed. */
  | { readonly kind: 'hangs' }
  /** Takes the work, and has not done it as long as this is the mode. */
  | { readonly kind: 'pends' }
  | { readonly kind: 'fails' }
  | { readonly kind: 'needs input' }
  /** Asks these, one after the other, and tells at the end what it was answered. Fails when an answer is declined. */
  | { readonly kind: 'asks'; readonly questions: readonly AskedOfCaller[] }
  /** Answers the same to everything that asks for work. */
  | { readonly kind: 'says'; readonly status: number; readonly text: string; readonly headers?: Record<string, string> }
  /** Demands a payment, in the way of its protocol, before it works. */
  | {
      readonly kind: 'bills';
      readonly terms: PaidTerms;
      readonly as?: 'data' | 'text' | 'error';
      /** Tells of progress before the demand. */
      readonly isBegun?: boolean;
    };

export interface AskedOfCaller {
  readonly message: string;
  readonly schema?: object;
  readonly url?: string;
  /** The same in MIP-003. */
  readonly mip?: object;
  /** Asked together with it, where the protocol has that. */
  readonly others?: readonly AskedOfCaller[];
}

export interface PaidTerms {
  /** A PaymentRequired of x402. */
  readonly required: Record<string, unknown>;
  /** Brings a payment to the chain; throws when it is not what was asked for. */
  take(payment: Record<string, unknown>): Promise<void>;
}

/** A server of a protocol, beside it the well-known file of its origin. */
export interface TestUpstream {
  readonly protocol: AgentProtocol;
  readonly endpoint: string;
  readonly upstream: Readonly<Record<string, string>>;
  /** Requests for work, in order: each would run once. */
  readonly work: Seen[];
  /** All requests. */
  readonly seen: Seen[];
  /** Set by tests. */
  mode: Mode;
  /** Status with which everything but work is answered; null: as usual. */
  down: number | null;
  /** Number of requests that were answered with `down`. */
  turnedAway: number;
  /** Paths that are answered as written here, whatever the protocol. */
  readonly odd: Map<
    string,
    { readonly status: number; readonly text: string; readonly headers?: Record<string, string> }
  >;
  /** Ids of agents that the well-known file names. */
  readonly named: string[];
  /** Further registrations in it. */
  readonly registrations: object[];
  /** True once the node cancelled, in the way of the protocol. */
  readonly isCancelled: () => boolean;
  /** Refuses all connections until the function that it returns is called. */
  away(): Promise<() => Promise<void>>;
  /** Closes the connections that hang. */
  letGo(): void;
  stop(): Promise<void>;
}

/** Protocol-specific part of a site. */
export interface Speaker {
  readonly protocol: AgentProtocol;
  /** Path of the endpoint. */
  readonly path: string;
  readonly upstream?: TestUpstream['upstream'];
  /** True for a request that asks for work. */
  isWork(seen: Seen): boolean;
  /** True for a request that cancels work. */
  isCancel?(seen: Seen): boolean;
  /** Answers a request in the protocol, as the mode says. */
  answer(seen: Seen, request: IncomingMessage, response: ServerResponse, site: TestUpstream): void | Promise<void>;
}

export const json = (
  response: ServerResponse,
  status: number,
  value: unknown,
  headers: Record<string, string> = {},
) => {
  response.writeHead(status, { 'content-type': 'application/json', ...headers });
  response.end(JSON.stringify(value));
};

export async function startUpstream(speaker: (origin: string) => Speaker): Promise<TestUpstream> {
  let isClosed = false;
  const hanging = new Set<ServerResponse>();
  const named: string[] = [];
  const registrations: object[] = [];
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const { method = '', url = '', headers } = request;
    const body = parse(Buffer.concat(chunks).toString('utf8'));
    const seen = { method, path: url, headers, body };
    site.seen.push(seen);
    if (url === '/.well-known/agent-registration.json')
      return json(response, 200, { registrations: [...registrations, ...named.map((agentId) => ({ agentId }))] });
    if (spoken.isCancel?.(seen)) isClosed = true;
    const odd = site.odd.get(url);
    if (odd)
      return void response.writeHead(odd.status, { 'content-type': 'application/json', ...odd.headers }).end(odd.text);
    if (site.down !== null) {
      site.turnedAway += 1;
      return json(response, site.down, {}, { location: '/elsewhere' });
    }
    if (!spoken.isWork(seen)) return spoken.answer(seen, request, response, site);
    site.work.push(seen);
    const { mode } = site;
    if (mode.kind === 'hangs') {
      hanging.add(response);
      response.on('close', () => {
        isClosed ||= !response.writableFinished;
      });
      return;
    }
    if (mode.kind !== 'says') return spoken.answer(seen, request, response, site);
    response.writeHead(mode.status, { 'content-type': 'application/json', ...mode.headers });
    response.end(mode.text);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const origin = `http://127.0.0.1:${port}`;
  const close = async () => {
    const closed = once(server, 'close');
    server.close();
    server.closeAllConnections();
    await closed;
  };
  const spoken = speaker(origin);
  const site: TestUpstream = {
    protocol: spoken.protocol,
    endpoint: origin + spoken.path,
    upstream: spoken.upstream ?? {},
    work: [],
    seen: [],
    mode: { kind: 'works' },
    down: null,
    turnedAway: 0,
    odd: new Map(),
    named,
    registrations,
    isCancelled: () => isClosed,
    letGo: () => hanging.forEach((response) => void response.destroy()),
    async away() {
      await close();
      return async () => {
        server.listen(port, '127.0.0.1');
        await once(server, 'listening');
      };
    },
    stop: close,
  };
  return site;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

export interface Listed {
  readonly id: string;
  readonly owner: TestAccount;
  readonly identityToken: string;
}

/** Registers an upstream, proves it by the file of its origin, and waits until it is online. */
export async function listUpstream(
  h: Pick<Harness, 'request' | 'newAccount'>,
  site: TestUpstream,
  options: {
    owner?: TestAccount;
    perRequest?: string;
    headers?: Record<string, string>;
    awaited?: string;
    metadata?: object;
  } = {},
): Promise<Listed> {
  const owner = options.owner ?? (await h.newAccount());
  const { status, body } = await h.request('POST', '/agents', {
    key: owner.key,
    body: {
      name: `Upstream ${site.protocol}`,
      capabilities: ['testing'],
      rates: { perRequest: options.perRequest ?? '0.05' },
      ...(options.metadata ? { metadata: options.metadata } : {}),
      endpoint: site.endpoint,
      protocol: site.protocol,
      upstream: { ...site.upstream, ...(options.headers ? { headers: options.headers } : {}) },
    },
  });
  if (status !== 200) throw new Error(`registration answered ${status}: ${JSON.stringify(body)}`);
  site.named.push(body.data.id);
  const verify = { agentId: body.data.id, proof: 'endpoint' };
  await h.request('POST', '/identity/verify', { key: owner.key, body: verify });
  await untilStatus(h, body.data.id, options.awaited ?? 'online');
  return { id: body.data.id, owner, identityToken: body.data.identityToken };
}
