import { createSemaphore } from '../lib/concurrency/semaphore.ts';
import type { DueChecks } from './entry-store.ts';

/** Keys of a request to another node for fair sharing: the node, the key that announced it, and its site. */
interface Asked {
  readonly baseUrl: string;
  readonly site: string;
  /** Set for an entry. */
  readonly uriBy?: string;
  /** Set for a node. */
  readonly registrar?: string | null;
}

export type Room = Pick<DueChecks, 'limit' | 'crowded' | 'maxPerKey' | 'maxPerSite'>;

/** Limits concurrent requests in total and for each node, key and site, so that a hanging one leaves room for others. */
export interface Shares {
  room(): Room;
  run(asked: Asked, work: () => Promise<void>): void;
  idle(): Promise<void>;
}

interface Most {
  readonly most: number;
  readonly maxPerNode: number;
  readonly maxPerKey: number;
  readonly maxPerSite: number;
}

export function createShares(
  { most, maxPerNode, maxPerKey, maxPerSite }: Most,
  onError: (error: unknown) => void,
): Shares {
  const running = createSemaphore(most);
  const crowded = (kind: string, atLeast: number) =>
    running
      .crowdedKeys(atLeast)
      .filter((key) => key.startsWith(kind))
      .map((key) => key.slice(kind.length));
  return {
    room: () => ({
      limit: running.free(),
      crowded: {
        nodes: crowded('node ', maxPerNode),
        keys: crowded('key ', maxPerKey),
        sites: crowded('site ', maxPerSite),
      },
      maxPerKey,
      maxPerSite,
    }),
    run({ baseUrl, site, uriBy, registrar }, work) {
      const keys = [`node ${baseUrl}`, `site ${site}`, `key ${uriBy ?? registrar ?? ''}`];
      running.run(work, keys).catch(onError);
    },
    idle: running.idle,
  };
}

/** Takes as much as there is room for; without room, sends no query. */
export async function takeDue<T>(shares: Shares, take: (room: Room) => Promise<T[]>): Promise<T[]> {
  const room = shares.room();
  return room.limit === 0 ? [] : take(room);
}
