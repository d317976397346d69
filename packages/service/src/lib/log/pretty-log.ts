type Destination = { write(line: string): void };

/** Formats the log's JSON lines as `12:00:01 info  message  field=value`, with an error's stack below. */
export function prettyDestination(out: Destination): Destination {
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
