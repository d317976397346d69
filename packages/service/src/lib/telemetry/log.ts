import { type DestinationStream, type Logger, pino } from 'pino';
import { redactText, redactValue } from './redact.ts';

export type Log = Logger;

export type LogLevel = 'trace' | 'debug' | 'info' | 'warn' | 'error' | 'fatal' | 'silent';

export type LogOptions = {
  level: LogLevel;
  /** Prints readable lines for a terminal instead of JSON. */
  pretty?: boolean;
  /** Destination of the lines. Default: stdout. */
  destination?: DestinationStream;
};

/**
 * Creates a log of one JSON object per line. Redacts secrets by field name at every depth and by pattern in every text; writes an error
 * under any field with its chain of causes.
 */
export function createLog({ level, pretty = false, destination = process.stdout }: LogOptions): Log {
  const log = pino(
    {
      level,
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      serializers: { err: (error: unknown) => error },
      formatters: {
        level: (label) => ({ level: label }),
        log: (fields) => redactValue(fields) as Record<string, unknown>,
      },
      hooks: { streamWrite: redactText },
    },
    pretty ? prettyDestination(destination) : destination,
  );
  return redactChildBindings(log);
}

/** pino does not run a bindings formatter for child loggers; children inherit this method from the root. */
function redactChildBindings(log: Log): Log {
  const child = log.child;
  log.child = function childOf(this: Log, bindings: object, options?: object) {
    return child.call(this, redactValue(bindings) as Record<string, unknown>, options);
  } as Log['child'];
  return log;
}

/** Silent log for tests and scripts. */
export const silentLog: Log = pino({ level: 'silent' });

type Destination = { write(line: string): void };

/** Formats the log's JSON lines as `12:00:01 info  message  field=value`, with an error's stack below. */
function prettyDestination(out: Destination): Destination {
  return {
    write(line) {
      out.write(prettyLine(line));
    },
  };
}

function prettyLine(line: string): string {
  const { level, time, msg, err, ...fields } = JSON.parse(line) as Record<string, unknown>;
  const parts = [String(time).slice(11, 19), String(level).padEnd(5), String(msg ?? '')];
  for (const [name, value] of Object.entries(fields)) {
    parts.push(`${name}=${typeof value === 'string' ? value : JSON.stringify(value)}`);
  }
  return `${parts.join(' ')}\n${prettyError(err)}`;
}

function prettyError(error: unknown): string {
  if (typeof error !== 'object' || error === null) return '';
  const { stack, message, cause } = error as Record<string, unknown>;
  const causeText = prettyError(cause);
  return `${String(stack ?? message)}\n${causeText && `caused by ${causeText}`}`;
}
