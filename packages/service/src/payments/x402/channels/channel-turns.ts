/**
 * Takes turns at correcting the payers of a channel in this process. Parallel calls on one channel are all signed for the same sum, and one
 * of them is right: the others are told the new sum one after another, each as soon as the call of the one before was admitted. Told
 * together, they would all sign the next sum, and again one of them would be right.
 */
export interface ChannelTurns {
  /** Resolves to true when it is this call's turn; to false after `LONGEST_WAIT_MS`, and when too many wait. */
  take(channelId: string): Promise<boolean>;
  /** Ends a turn that was taken and in which nothing was told. */
  pass(channelId: string): void;
  /** Notes the request whose turn it is: by it, the answer is known. */
  told(channelId: string, requestId: string): void;
  /** True if another call is in turn: one that took its sum now would leave that one with a wrong sum. */
  isOthers(channelId: string, requestId: string): boolean;
  /** Ends the turn of this request: its answer was judged. */
  answered(channelId: string, requestId: string): void;
}

/** A turn without an answer ends after this at least: clients on a busy machine need a while to sign. */
const SHORTEST_TURN_MS = 5_000;
const LONGEST_TURN_MS = 10_000;
/** Turns last several times what answers have taken lately. */
const PATIENCE = 8;
const LONGEST_WAIT_MS = 25_000;
/** More calls than this do not wait on one channel: they are told at once. */
const MOST_WAITING = 256;

interface Line {
  readonly waiting: Set<(isInTurn: boolean) => void>;
  startedMs: number;
  toldId: string | null;
  timer: NodeJS.Timeout;
}

export function createChannelTurns(): ChannelTurns {
  const lines = new Map<string, Line>();
  let usualMs = 0;
  const turnMs = () => Math.min(LONGEST_TURN_MS, Math.max(SHORTEST_TURN_MS, PATIENCE * usualMs));

  function startTimer(channelId: string): NodeJS.Timeout {
    const timer = setTimeout(() => next(channelId), turnMs());
    timer.unref();
    return timer;
  }

  function next(channelId: string): void {
    const line = lines.get(channelId);
    if (!line) return;
    clearTimeout(line.timer);
    const [first] = line.waiting;
    if (!first) {
      lines.delete(channelId);
      return;
    }
    line.startedMs = performance.now();
    line.toldId = null;
    line.timer = startTimer(channelId);
    first(true);
  }

  return {
    take(channelId) {
      const line = lines.get(channelId);
      if (!line) {
        const timer = startTimer(channelId);
        lines.set(channelId, { waiting: new Set(), startedMs: performance.now(), toldId: null, timer });
        return Promise.resolve(true);
      }
      if (line.waiting.size >= MOST_WAITING) return Promise.resolve(false);
      return new Promise((resolve) => {
        const tired = setTimeout(() => letIn(false), LONGEST_WAIT_MS);
        function letIn(isInTurn: boolean) {
          clearTimeout(tired);
          line?.waiting.delete(letIn);
          resolve(isInTurn);
        }
        line.waiting.add(letIn);
      });
    },
    pass(channelId) {
      if (lines.get(channelId)?.toldId === null) next(channelId);
    },
    told(channelId, requestId) {
      const line = lines.get(channelId);
      if (line) line.toldId = requestId;
    },
    isOthers(channelId, requestId) {
      const line = lines.get(channelId);
      return line !== undefined && line.toldId !== null && line.toldId !== requestId;
    },
    answered(channelId, requestId) {
      const line = lines.get(channelId);
      if (line?.toldId !== requestId) return;
      usualMs = 0.8 * usualMs + 0.2 * (performance.now() - line.startedMs);
      next(channelId);
    },
  };
}
