import pg from 'pg';
import { hostUrls } from '../../lib/net/host-urls.ts';

/** Hosts of a `DATABASE_URL`, of which one at a time is connected to. */
export interface DatabaseHosts {
  readonly count: number;
  /** URL of the host to connect to now. */
  current(): string;
  /** Switches to the next host, unless others have already left this one. */
  leave(url: string): void;
}

/** Time to connect to one of several hosts; a single host gets the pool's own limit. */
const CONNECT_MS = 2_000;

const known = new Map<string, DatabaseHosts>();
const urlOf = new WeakMap<pg.ClientBase, string>();

/** Hosts of a URL, shared by all connections of this process to it: the host that one of them leaves is left by all. */
export function hostsOf(url: string): DatabaseHosts {
  const before = known.get(url);
  if (before) return before;
  const urls = hostUrls(url);
  let place = 0;
  const current = () => urls[place] ?? url;
  const hosts: DatabaseHosts = {
    count: urls.length,
    current,
    leave(left) {
      if (left === current()) place = (place + 1) % urls.length;
    },
  };
  known.set(url, hosts);
  return hosts;
}

/** URL of the host that a connection is to. Others may have left that host since. */
export const hostOf = (client: pg.ClientBase, url: string): string => urlOf.get(client) ?? hostsOf(url).current();

/** The class of a pool's connections: each connects to the host that is current when it is made, and leaves it when it cannot. */
export const clientOn = (url: string): typeof pg.Client => (hostsOf(url).count === 1 ? pg.Client : severalHosts(url));

function severalHosts(url: string): typeof pg.Client {
  const hosts = hostsOf(url);
  return class extends pg.Client {
    readonly #url: string;

    constructor(options: pg.ClientConfig) {
      const current = hosts.current();
      super({ ...options, connectionString: current });
      this.#url = current;
      urlOf.set(this, current);
    }

    override connect(): Promise<this>;
    override connect(callback: (error: Error) => void): void;
    override connect(callback?: (error: Error) => void): Promise<this> | undefined {
      const { stream } = (this as unknown as { connection: { stream: { destroy(error: Error): void } } }).connection;
      const late = setTimeout(
        () => stream.destroy(Object.assign(new Error('the host does not answer'), { code: 'ETIMEDOUT' })),
        CONNECT_MS,
      );
      const connected = super.connect().then(
        () => clearTimeout(late),
        (error: Error) => {
          clearTimeout(late);
          hosts.leave(this.#url);
          throw error;
        },
      );
      if (!callback) return connected.then(() => this);
      const tell = callback as (error: Error | null) => void;
      connected.then(
        () => tell(null),
        (error: Error) => tell(error),
      );
      return undefined;
    }
  } as typeof pg.Client;
}
