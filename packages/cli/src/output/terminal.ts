import { styleText } from 'node:util';
import type { Failure } from '../exit-codes.ts';
import { escapedControls, withoutControls } from './table.ts';

export interface OutputOptions {
  /** One JSON document on stdout, and errors as JSON. */
  readonly json: boolean;
  readonly quiet: boolean;
  readonly color: boolean;
}

type Style = Parameters<typeof styleText>[0];

/** Columns of a terminal. Some tell 0 for a width that they do not know. */
const widthOf = ({ columns }: NodeJS.WriteStream): number => columns || 80;

/** JSON that is safe to print: JSON allows control characters that some terminals obey. */
const toJson = (data: unknown, spaces = 0): string => escapedControls(JSON.stringify(data, null, spaces));

/** Writes results to stdout and everything else to stderr. Text of a node or a stranger moves no cursor. */
export function createTerminal(options: OutputOptions, process: NodeJS.Process) {
  const { stdout, stderr } = process;
  const isStyled = options.color && !process.env.NO_COLOR;
  const style = (stream: NodeJS.WriteStream, format: Style, text: string) =>
    isStyled && stream.isTTY ? styleText(format, text, { validateStream: false }) : text;
  return {
    /** Width of the screen; null when the output goes elsewhere. */
    columns: stdout.isTTY ? widthOf(stdout) : null,
    /** True when questions can be asked. */
    isInteractive: Boolean(process.stdin.isTTY && stderr.isTTY) && !options.json,
    isJson: options.json,

    /** Writes the result: the data as JSON, or as text for people. */
    result(data: unknown, text: () => string): void {
      stdout.write(`${options.json ? toJson(data, stdout.isTTY ? 2 : 0) : withoutControls(text())}\n`);
    },
    /** Writes one of many results, a line each. */
    item(data: unknown, text: () => string): void {
      stdout.write(options.json ? `${toJson(data)}\n` : withoutControls(text()));
    },
    /** Tells a program something about the work, as JSON on stderr; people get a note. */
    status(data: unknown, text: string): void {
      if (options.json) stderr.write(`${toJson(data)}\n`);
      else if (!options.quiet) stderr.write(`${withoutControls(text)}\n`);
    },
    note(text: string): void {
      if (!options.quiet && !options.json) stderr.write(`${withoutControls(text)}\n`);
    },
    /** Shows how far long work is, on a line that the next text replaces; on a terminal only. An empty text clears it. */
    progress(text: string): void {
      if (!stderr.isTTY || options.quiet || options.json) return;
      const shown = withoutControls(text).slice(0, widthOf(stderr) - 1);
      stderr.write(`\r\u001b[2K${style(stderr, 'dim', shown)}`);
    },
    failure({ code, message, requestId }: Failure): void {
      const text = withoutControls(`${message}${requestId ? ` (${requestId})` : ''}`);
      stderr.write(
        options.json
          ? `${toJson({ error: { code, message, requestId } })}\n`
          : `${style(stderr, 'red', 'error')}: ${text}\n`,
      );
    },
    good: (text: string) => style(stdout, 'green', text),
    bad: (text: string) => style(stdout, 'red', text),
    dim: (text: string) => style(stdout, 'dim', text),
  };
}

export type Terminal = ReturnType<typeof createTerminal>;
