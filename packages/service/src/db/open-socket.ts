import { lookup } from 'node:dns';
import { type LookupFunction, Socket, type SocketConnectOpts } from 'node:net';

/** Timeout of a look-up of the database's host, after which its last known address is tried. */
const LOOKUP_MS = 1_500;

/**
 * Socket for a database connection: writes of one event loop turn are sent as one piece, and unanswered DNS look-ups do not block the use
 * of the last known address.
 */
export const openSocket = (): Socket => new GatheringSocket();

type Found = Parameters<Parameters<LookupFunction>[2]>;
const known = new Map<string, Found>();

const lookupKnown: LookupFunction = (hostname, options, callback) => {
  const name = `${hostname} ${options.all === true} ${options.family ?? 0}`;
  let isAnswered = false;
  const answer = (...found: Found) => {
    if (isAnswered) return;
    isAnswered = true;
    clearTimeout(late);
    callback(...found);
  };
  const fallBack = (): Found | undefined => known.get(name);
  const late = setTimeout(() => {
    const before = fallBack();
    if (before) answer(...before);
  }, LOOKUP_MS);
  lookup(hostname, options, (error: NodeJS.ErrnoException | null, ...found: unknown[]) => {
    const result = [error, ...found] as unknown as Found;
    if (error) return answer(...(fallBack() ?? result));
    known.set(name, result);
    answer(...result);
  });
};

class GatheringSocket extends Socket {
  #isGathering = false;

  override connect(...args: unknown[]): this {
    const [port, host] = args;
    if (typeof port !== 'number' || typeof host !== 'string') return super.connect(...(args as [SocketConnectOpts]));
    return super.connect({ port, host, lookup: lookupKnown });
  }

  override write(...args: unknown[]): boolean {
    if (!this.#isGathering) {
      this.#isGathering = true;
      this.cork();
      process.nextTick(() => {
        this.#isGathering = false;
        this.uncork();
      });
    }
    return super.write(...(args as Parameters<Socket['write']>));
  }
}
