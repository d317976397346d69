import type { Log } from '../lib/telemetry/log.ts';
import type { Entry, Reason } from './entry.ts';

/** Entries of the registry that were ignored, in the log: a public chain has many of nodes and agents that are gone. */
export interface IgnoredLog {
  record(entry: Pick<Entry, 'tokenId' | 'kind' | 'baseUrl'>, reason: Reason): void;
}

/** Time in which ignored entries are collected for one line. */
const COLLECTED_MS = 10_000;
/** Groups of a line; those of the others are counted together. */
const MAX_GROUPS = 20;

interface Group {
  readonly reason: Reason;
  readonly kind: Entry['kind'];
  readonly baseUrl: Entry['baseUrl'];
  /** Token of the first. */
  readonly tokenId: Entry['tokenId'];
  entries: number;
}

/** Writes one line for all entries of ten seconds, grouped by reason and node, with the token of the first of each group. */
export function createIgnoredLog(log: Pick<Log, 'info'>, collectedMs = COLLECTED_MS): IgnoredLog {
  let groups = new Map<string, Group>();
  let others = 0;

  function write(): void {
    const fields = { groups: [...groups.values()], ...(others > 0 ? { others } : {}) };
    groups = new Map();
    others = 0;
    log.info(fields, 'registry entries ignored');
  }

  return {
    record({ tokenId, kind, baseUrl }, reason) {
      if (groups.size === 0) setTimeout(write, collectedMs).unref();
      const key = JSON.stringify([reason, kind, baseUrl]);
      const group = groups.get(key);
      if (group) group.entries++;
      else if (groups.size < MAX_GROUPS) groups.set(key, { reason, kind, baseUrl, tokenId, entries: 1 });
      else others++;
    },
  };
}
