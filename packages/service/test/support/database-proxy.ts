import { once } from 'node:events';
import { type AddressInfo, createServer, type Server, Socket } from 'node:net';
import type { WireLog } from './wire-log.ts';

/** `refusing`: connections are reset as they come. `silent`: nothing is passed on and nothing is closed, as when a host vanishes. */
export type ProxyMode = 'open' | 'refusing' | 'silent';

export interface DatabaseProxy {
  /** The database's URL, by way of the proxy. */
  readonly url: string;
  /** Connections that were open while the proxy was silent stay silent: the host that came back does not know them. */
  set(mode: ProxyMode): void;
  /** Makes those connections silent that the server sees under one of these ports. */
  mute(ports: ReadonlySet<number>): void;
  /** Closes the server's ends of silent connections, releasing their locks; the clients do not notice. */
  forgetMute(): void;
  /** Sets the delay of each direction: half a round trip. */
  delay(oneWayMs: number): void;
  /** Resets every connection that is open. */
  cut(): void;
  /** Rewrites the chunks that the server sends: null for a chunk that never arrives. */
  rewrite(change: ((fromServer: Buffer, connection: number) => Buffer | null) | null): void;
  /** Number of round trips over all connections. */
  roundTrips(): number;
  connections(): number;
  /** Number of refused connections. */
  refusals(): number;
  stop(): Promise<void>;
}

interface Pair {
  readonly number: number;
  readonly client: Socket;
  readonly server: Socket;
  isMute: boolean;
  hasHeard: boolean;
}

/** Proxy between a process and its database that simulates network faults. `log` reads all that passes. */
export async function startDatabaseProxy(databaseUrl: string, log?: WireLog): Promise<DatabaseProxy> {
  const target = new URL(databaseUrl);
  const pairs = new Set<Pair>();
  let mode: ProxyMode = 'open';
  let oneWayMs = 0;
  let roundTrips = 0;
  let made = 0;
  let refused = 0;
  let change: ((fromServer: Buffer, connection: number) => Buffer | null) | null = null;

  const pass = (pair: Pair, to: Socket, chunk: Buffer) => {
    const write = () => {
      if (!pair.isMute && !to.destroyed) to.write(chunk);
    };
    if (oneWayMs === 0) write();
    else setTimeout(write, oneWayMs);
  };
  const accept = (client: Socket) => {
    if (mode === 'refusing') {
      refused += 1;
      return void client.resetAndDestroy();
    }
    const server = new Socket();
    const pair: Pair = { number: ++made, client, server, isMute: mode === 'silent', hasHeard: true };
    pairs.add(pair);
    client.setNoDelay(true);
    server.setNoDelay(true);
    if (mode === 'open') server.connect(Number(target.port), target.hostname);
    client.on('data', (chunk) => {
      if (pair.hasHeard) roundTrips += 1;
      pair.hasHeard = false;
      log?.fromClient(pair.number, chunk);
      pass(pair, server, chunk);
    });
    server.on('data', (chunk) => {
      pair.hasHeard = true;
      log?.fromServer(pair.number, chunk);
      const changed = change ? change(chunk, pair.number) : chunk;
      if (changed) pass(pair, client, changed);
    });
    const end = (other: Socket) => () => {
      pairs.delete(pair);
      if (!pair.isMute) other.destroy();
    };
    client.on('error', () => undefined).on('close', end(server));
    server.on('error', () => undefined).on('close', end(client));
  };
  const listener: Server = createServer(accept);
  listener.listen(0, '127.0.0.1');
  await once(listener, 'listening');
  const url = new URL(databaseUrl);
  url.hostname = '127.0.0.1';
  url.port = String((listener.address() as AddressInfo).port);
  return {
    url: url.href,
    set(next) {
      mode = next;
      if (next === 'silent') for (const pair of pairs) pair.isMute = true;
    },
    mute(ports) {
      for (const pair of pairs) if (ports.has(pair.server.localPort ?? -1)) pair.isMute = true;
    },
    forgetMute() {
      for (const { isMute, server } of pairs) if (isMute) server.destroy();
    },
    delay(ms) {
      oneWayMs = ms;
    },
    cut() {
      for (const { client, server } of [...pairs]) {
        client.resetAndDestroy();
        server.destroy();
      }
    },
    rewrite(next) {
      change = next;
    },
    roundTrips: () => roundTrips,
    connections: () => pairs.size,
    refusals: () => refused,
    async stop() {
      const closed = once(listener, 'close');
      listener.close();
      for (const { client, server } of [...pairs]) {
        client.destroy();
        server.destroy();
      }
      await closed;
    },
  };
}
