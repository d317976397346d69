import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type ParseArgsConfig, parseArgs } from 'node:util';
import { modeOf } from '../src/config/config.ts';
import { withSecretFiles } from '../src/config/keys.ts';

/** A mistake in the arguments or the environment of a command: said in a line, with the exit code 2. */
export class UsageError extends Error {}

/** Reads the arguments. Null: `--help`, or nothing at all, was asked for, and `usage` was printed. */
export function readArguments<const O extends NonNullable<ParseArgsConfig['options']>>(usage: string, options: O) {
  const all = { ...options, help: { type: 'boolean', short: 'h' } } as const;
  const { values, positionals } = parsed(all);
  const isHelp = (values as { help?: boolean }).help === true;
  if (!isHelp && positionals.length > 0) return { values, positionals };
  if (!isHelp) process.exitCode = 2;
  (isHelp ? console.log : console.error)(usage);
  return null;
}

function parsed<O extends NonNullable<ParseArgsConfig['options']>>(options: O) {
  try {
    return parseArgs({ allowPositionals: true, options });
  } catch (error) {
    // Of parseArgs: the first sentence says what is wrong, the rest is about escaping.
    throw new UsageError(`${error instanceof Error ? error.message.split('. ')[0] : error}. --help lists the options.`);
  }
}

/** `DATABASE_URL`, or outside of production that of the local node which this folder's `npm start` runs. */
export function databaseUrlOf(env: NodeJS.ProcessEnv): string {
  const { DATABASE_URL: url } = withSecretFiles(env);
  if (url) return url;
  const file = join(env.DATA_DIR ?? '.agent-network', 'local.json');
  const local = modeIn(env) === 'production' ? null : localDatabase(file);
  if (local === null) throw new UsageError('Set DATABASE_URL to the database of the node.');
  console.error(`DATABASE_URL is not set: using the database of the local node (${file}).`);
  return local;
}

function modeIn({ NODE_ENV }: NodeJS.ProcessEnv) {
  try {
    return modeOf(NODE_ENV);
  } catch (error) {
    throw new UsageError(textOf(error));
  }
}

function localDatabase(file: string): string | null {
  try {
    const { database } = JSON.parse(readFileSync(file, 'utf8')) as { database?: unknown };
    return typeof database === 'string' ? database : null;
  } catch {
    return null;
  }
}

/** Runs a command. Prints a failure in one line and sets the exit code, 2 for a usage error. */
export async function runCommand(work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (error) {
    console.error(textOf(error));
    process.exitCode = error instanceof UsageError ? 2 : 1;
  }
}

/** A connection that fails at each of several addresses has its reasons inside, and no message. */
function textOf(error: unknown): string {
  if (error instanceof AggregateError) return [...new Set(error.errors.map(textOf))].join('; ');
  return error instanceof Error ? error.message : String(error);
}
