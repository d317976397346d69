import { createSlots } from '../../lib/slots.ts';
import type { Due } from '../nodes/entry-store.ts';

/** Somebody who is asked: a node, the key that announced it, the site where it is. */
interface Asked {
  readonly baseUrl: string;
  readonly site: string;
  /** Of an entry. */
  readonly uriBy?: string;
  /** Of a node. */
  readonly registrar?: string | null;
}

export type Room = Pick<Due, 'limit' | 'crowded' | 'mostOfKey' | 'mostOfSite'>;

/** Room for so much at once, of which a node, a key and a site have only a share: what hangs at one leaves others theirs. */
export interface Shares {
  room(): Room;
  run(asked: Asked, work: () => Promise<void>): void;
  idle(): Promise<void>;
}

interface Most {
  readonly most: number;
  readonly mostOfNode: number;
  readonly mostOfKey: number;
  readonly mostOfSite: number;
}

export function createShares(
  { most, mostOfNode, mostOfKey, mostOfSite }: Most,
  onError: (error: unknown) => void,
): Shares {
  const slots = createSlots({ most, mostOfKey: mostOfNode, onError });
  const crowded = (kind: string, atLeast: number) =>
    slots
      .crowded(atLeast)
      .filter((key) => key.startsWith(kind))
      .map((key) => key.slice(kind.length));
  return {
    room: () => ({
      limit: Math.max(0, slots.free()),
      crowded: {
        nodes: crowded('node ', mostOfNode),
        keys: crowded('key ', mostOfKey),
        sites: crowded('site ', mostOfSite),
      },
      mostOfKey,
      mostOfSite,
    }),
    run({ baseUrl, site, uriBy, registrar }, work) {
      slots.run([`node ${baseUrl}`, `site ${site}`, `key ${uriBy ?? registrar ?? ''}`], work);
    },
    idle: slots.idle,
  };
}

/** What there is room for; the database is not asked when there is none. */
export async function takeDue<T>(shares: Shares, take: (room: Room) => Promise<T[]>): Promise<T[]> {
  const room = shares.room();
  return room.limit === 0 ? [] : take(room);
}
