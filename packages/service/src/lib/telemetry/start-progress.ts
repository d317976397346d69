/** A step of a start, as its reports name it. */
export interface StartStep {
  /** One word, such as "database". */
  readonly name: string;
  /** The work of the step, such as "starting PostgreSQL". */
  readonly doing: string;
  /** Advice for its user when it fails, for errors that give none themselves. */
  readonly remedy: string;
}

/** Reports the steps of a start as they begin and end. */
export interface StartProgress {
  /** Runs a step and reports its duration; several may run at once. Throws `StartError` when the step fails. */
  step<T>(step: StartStep, work: () => Promise<T>): Promise<T>;
}

/** A step of the start failed; the message names it, its duration and what to do. */
export class StartError extends Error {
  constructor({ name, remedy }: StartStep, { tookMs, cause }: { readonly tookMs: number; readonly cause: unknown }) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    super(
      `${reason}\nThe step "${name}" failed after ${secondsText(tookMs)}. If the message above does not say what to do: ${remedy}`,
      { cause },
    );
  }
}

/** Reports nothing. */
export const silentProgress: StartProgress = { step: (_, work) => work() };

interface StepReports {
  began(step: StartStep): void;
  ended(step: StartStep, tookMs: number): void;
  failed(step: StartStep): void;
}

const progressOf = (reports: StepReports): StartProgress => ({
  async step(step, work) {
    const startMs = performance.now();
    reports.began(step);
    try {
      const value = await work();
      reports.ended(step, performance.now() - startMs);
      return value;
    } catch (cause) {
      reports.failed(step);
      if (cause instanceof StartError) throw cause;
      throw new StartError(step, { tookMs: performance.now() - startMs, cause });
    }
  },
});

interface InfoLog {
  info(fields: object, message: string): void;
}

/** Writes each step to the log, with its duration in milliseconds. */
export const createLogProgress = (log: InfoLog): StartProgress =>
  progressOf({
    began: ({ name }) => log.info({ step: name }, 'start step began'),
    ended: ({ name }, tookMs) => log.info({ step: name, tookMs: Math.round(tookMs) }, 'start step done'),
    failed: () => undefined,
  });

interface Output {
  readonly isTTY?: boolean;
  readonly columns?: number;
  write(text: string): unknown;
}

/** A start in front of a person. Other output goes through `write`, so that it does not run into the line of the running step. */
export interface ScreenProgress extends StartProgress {
  write(text: string): void;
}

const REDRAW_MS = 100;
const FRAMES = ['-', '\\', '|', '/'] as const;
const NAME_WIDTH = 10;

/**
 * Shows each step on a line, with its duration. A terminal has one line that tells the running step and its seconds; other output, such
 * as a pipe or a journal, gets a line when a step begins and one when it ends.
 */
export function createScreenProgress(out: Output): ScreenProgress {
  return out.isTTY ? onTerminal(out) : inLines(out);
}

function inLines(out: Output): ScreenProgress {
  const line = (text: string) => out.write(`agent-network: ${text}\n`);
  return {
    write: (text) => void out.write(text),
    ...progressOf({
      began: ({ name, doing }) => line(`${name}: ${doing}`),
      ended: ({ name }, tookMs) => line(`${name}: done in ${secondsText(tookMs)}`),
      failed: ({ name }) => line(`${name}: failed`),
    }),
  };
}

function onTerminal(out: Output): ScreenProgress {
  const running = new Map<StartStep, number>();
  let timer: NodeJS.Timeout | undefined;
  let frame = 0;

  function draw(): void {
    const [oldest] = running;
    if (!oldest) return;
    const [{ name, doing }, sinceMs] = oldest;
    const text = `  ${FRAMES[frame++ % FRAMES.length]} ${name.padEnd(NAME_WIDTH)} ${doing}  ${secondsText(performance.now() - sinceMs)}`;
    out.write(`\r\x1b[K${text.slice(0, Math.max(20, (out.columns ?? 80) - 1))}`);
  }

  function write(text: string): void {
    out.write(`${running.size > 0 ? '\r\x1b[K' : ''}${text}`);
  }

  function leave(step: StartStep, text: string): void {
    write(`${text}\n`);
    running.delete(step);
    if (running.size === 0) clearInterval(timer);
    else draw();
  }

  return {
    write,
    ...progressOf({
      began(step) {
        if (running.size === 0) timer = setInterval(draw, REDRAW_MS).unref();
        running.set(step, performance.now());
        draw();
      },
      ended: (step, tookMs) => leave(step, `  ok ${step.name.padEnd(NAME_WIDTH)} ${secondsText(tookMs).padStart(7)}`),
      failed: (step) => leave(step, `  failed: ${step.name}`),
    }),
  };
}

/** 2,149 ms as "2.1 s". */
const secondsText = (ms: number): string => `${(ms / 1000).toFixed(1)} s`;
