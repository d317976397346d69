/** Counts of events in a run, and its violations. */
export interface Tally {
  count(group: 'requests' | 'faults' | 'readings', what: string): void;
  violation(text: string): void;
  readonly violations: readonly string[];
  /** How often something was counted, over all groups. */
  of(what: string): number;
  print(): string;
}

export function createTally(seed: string): Tally {
  const startMs = performance.now();
  const groups: Record<string, Map<string, number>> = {};
  const violations = new Set<string>();
  const rows = (group: string) =>
    [...(groups[group] ?? new Map<string, number>())].sort(([a], [b]) => a.localeCompare(b));
  const table = (group: string) => {
    const lines = rows(group).map(([what, count]) => `  ${what.padEnd(52)} ${String(count).padStart(7)}`);
    return [group, ...lines].join('\n');
  };
  return {
    count(group, what) {
      groups[group] ??= new Map();
      groups[group].set(what, (groups[group].get(what) ?? 0) + 1);
    },
    violation: (text) => void violations.add(text),
    get violations() {
      return [...violations];
    },
    of: (what) => Object.keys(groups).reduce((sum, group) => sum + (groups[group]?.get(what) ?? 0), 0),
    print() {
      const seconds = Math.round((performance.now() - startMs) / 1000);
      const verdict = [`violations ${violations.size}`, ...[...violations].map((text) => `  ${text}`)].join('\n');
      return [...Object.keys(groups).sort().reverse().map(table), verdict, `seed ${seed}, ${seconds} s`].join('\n\n');
    },
  };
}
