/** Limits concurrent look-ups, in total and by key, so that slow names of one key cannot block the others. */
export interface LookupRoom {
  /** Resolves with true once there is room, or false after the wait. */
  enter(key: string, waitMs: number): Promise<boolean>;
  leave(key: string): void;
}

/** Maximum waiting look-ups of one key, beyond its running ones. */
const MAX_WAITING_OF_KEY = 64;

interface Line {
  inside: number;
  readonly waiting: Set<() => void>;
}

export function createLookupRoom({ most, maxPerKey }: { most: number; maxPerKey: number }): LookupRoom {
  const lines = new Map<string, Line>();
  let inside = 0;

  const admit = (line: Line): void => {
    line.inside += 1;
    inside += 1;
  };
  const wait = (line: Line, waitMs: number): Promise<boolean> =>
    new Promise((resolve) => {
      const enter = () => {
        clearTimeout(timer);
        admit(line);
        resolve(true);
      };
      const timer = setTimeout(() => {
        line.waiting.delete(enter);
        resolve(false);
      }, waitMs);
      line.waiting.add(enter);
    });

  return {
    async enter(key, waitMs) {
      const line = lines.get(key) ?? { inside: 0, waiting: new Set() };
      if (line.inside < maxPerKey && inside < most) {
        lines.set(key, line);
        admit(line);
        return true;
      }
      // Beyond the limit nothing waits: names from strangers could otherwise delay others.
      if (line.inside === 0 || line.waiting.size >= MAX_WAITING_OF_KEY) return false;
      return wait(line, waitMs);
    },
    leave(key) {
      const line = lines.get(key);
      if (!line) return;
      line.inside -= 1;
      inside -= 1;
      const [next] = line.waiting;
      if (next && inside < most) {
        line.waiting.delete(next);
        next();
      } else if (line.inside === 0 && line.waiting.size === 0) lines.delete(key);
    },
  };
}
