import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { type AgentCall, AgentError, serveAgent } from '@agent-network/sdk/agent';
import { type Command, Option } from 'commander';
import { action } from '../command.ts';
import { EXIT, type ExitCode } from '../exit-codes.ts';
import { integer, listOf, usdc } from '../output/arguments.ts';
import { oneLine } from '../output/table.ts';
import { configDir } from '../profile/profile-store.ts';
import type { Session } from '../session.ts';

interface ServeOptions {
  readonly name?: string;
  readonly description?: string;
  readonly capability: string[];
  readonly price: string;
  readonly port: number;
  readonly host: string;
  readonly endpoint?: string;
  readonly concurrency: number;
}

const MAX_OUTPUT_BYTES = 1024 * 1024;
const MAX_ERROR_CHARS = 500;

export function addServe(program: Command): void {
  program
    .command('serve')
    .argument('<program>', 'it reads a call as JSON on stdin, and writes its result to stdout: JSON, or text')
    .argument('[args...]', 'its arguments; after "--" also those with dashes')
    .option('--name <name>', 'name of the agent; default: the program')
    .option('--description <text>')
    .requiredOption('-c, --capability <names>', 'what it can do, with commas', listOf)
    .option('--price <usdc>', 'price per request', usdc, '0.01')
    .addOption(new Option('--port <port>', 'where it listens; default: any').argParser(integer(0, 65_535)).default(0))
    .option('--host <address>', 'where it listens', '127.0.0.1')
    .option('--endpoint <url>', 'the public address that leads here; default: the local one')
    .addOption(new Option('--concurrency <count>', 'programs that run at once').argParser(integer(1, 100)).default(4))
    .description('run a local program as a paid agent: registers it, proves its endpoint, and shows its calls')
    .action(action<[string, string[], ServeOptions]>(serve));
}

async function serve(session: Session, file: string, args: string[], options: ServeOptions): Promise<ExitCode> {
  session.requireClient();
  const { terminal, url, apiKey, env } = session;
  const name = options.name ?? file.split(/[\\/]/).at(-1) ?? file;
  const stop = Promise.withResolvers<void>();
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => stop.resolve());
  const turns = createTurns(options.concurrency);
  const agent = await serveAgent({
    port: options.port,
    host: options.host,
    ...(options.endpoint ? { endpoint: options.endpoint } : {}),
    registerWith: {
      baseUrl: url,
      apiKey: apiKey ?? '',
      tokenFile: join(configDir(env), 'agents', `${fileNameOf(url, name)}.json`),
      ...{ name, capabilities: options.capability, rates: { perRequest: options.price } },
      ...(options.description ? { description: options.description } : {}),
    },
    handle: (call) => turns(() => runShown(session, call, file, args)),
  });
  const { agentId = '' } = agent;
  terminal.item(
    { agentId, endpoint: options.endpoint ?? agent.url },
    () => `${agentId} at ${options.endpoint ?? agent.url}\n`,
  );
  terminal.note('The node checks the endpoint, then lists it as online. Ctrl-C ends it; the agent is then offline.');
  await stop.promise;
  await agent.close();
  await showEarnings(session, agentId);
  return EXIT.done;
}

const fileNameOf = (url: string, name: string) =>
  createHash('sha256').update(`${url} ${name}`).digest('hex').slice(0, 24);

/** Runs at most `count` at once; the others wait in turn. */
function createTurns(count: number) {
  const waiting: (() => void)[] = [];
  let running = 0;
  return async <T>(work: () => Promise<T>): Promise<T> => {
    if (running >= count) await new Promise<void>((resolve) => waiting.push(resolve));
    else running++;
    try {
      return await work();
    } finally {
      const next = waiting.shift();
      if (next) next();
      else running--;
    }
  };
}

async function runShown(
  { terminal }: Session,
  call: AgentCall,
  file: string,
  args: readonly string[],
): Promise<unknown> {
  const { requestId, task } = call;
  const startMs = performance.now();
  const show = (state: string) => {
    const tookMs = Math.round(performance.now() - startMs);
    terminal.item(
      { requestId, task, state, tookMs },
      () => `${requestId}  ${state}  ${tookMs} ms  ${oneLine(task).slice(0, 80)}\n`,
    );
  };
  try {
    const result = await runProgram(call, file, args);
    show('completed');
    return result;
  } catch (error) {
    show('failed');
    throw error;
  }
}

/** One run of the program: the call on stdin, the result on stdout. Ended with the call. */
export async function runProgram(call: AgentCall, file: string, args: readonly string[]): Promise<unknown> {
  const { signal, charge: _charge, ...content } = call;
  const child = spawn(file, args, { stdio: ['pipe', 'pipe', 'pipe'], signal, killSignal: 'SIGTERM' });
  child.stdin.on('error', () => undefined);
  child.stdin.end(`${JSON.stringify(content)}\n`);
  let output = '';
  let errors = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    output += text;
    if (output.length > MAX_OUTPUT_BYTES) child.kill('SIGKILL');
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    errors = (errors + text).slice(-MAX_ERROR_CHARS);
  });
  const code = await new Promise<number | null>((resolve, reject) => {
    child.once('error', (error) => reject(new AgentError('program_failed', error.message)));
    child.once('close', resolve);
  });
  if (output.length > MAX_OUTPUT_BYTES) throw new AgentError('result_too_large', 'The program wrote more than 1 MiB.');
  if (code !== 0) throw new AgentError('program_failed', errors.trim() || `The program ended with code ${code}.`);
  return readResult(output.trim());
}

/** JSON as it stands; anything else is text. */
export function readResult(output: string): unknown {
  try {
    return JSON.parse(output);
  } catch {
    return { text: output };
  }
}

async function showEarnings(session: Session, agentId: string): Promise<void> {
  const found = await session
    .requireClient()
    .getBalance()
    .catch(() => null);
  const treasury = found?.treasuries.find((each) => each.agentId === agentId);
  if (treasury) session.terminal.note(`${agentId} has earned ${treasury.available} USDC, in ${treasury.treasuryId}.`);
}
