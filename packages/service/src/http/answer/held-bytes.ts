/** Bytes that are held in memory for others, by holder and in all. */
export interface HeldBytes {
  of(holder: string): number;
  all(): number;
  /** Counts bytes for each holder; a negative number frees them. */
  add(holders: readonly string[], bytes: number): void;
}

export function createHeldBytes(): HeldBytes {
  const byHolder = new Map<string, number>();
  let all = 0;
  return {
    of: (holder) => byHolder.get(holder) ?? 0,
    all: () => all,
    add(holders, bytes) {
      all += bytes;
      for (const holder of holders) {
        const left = (byHolder.get(holder) ?? 0) + bytes;
        if (left > 0) byHolder.set(holder, left);
        else byHolder.delete(holder);
      }
    },
  };
}
