import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { type AgentCall, serveAgent } from '@agent-network/sdk/agent';
import { type Command, Option } from 'commander';
import { action } from '../command.ts';
import { EXIT, type ExitCode } from '../exit-codes.ts';
import { integer, listOf, usdc } from '../output/arguments.ts';
import { oneLine } from '../output/table.ts';
import { configDir } from '../profile/profile-store.ts';
import type { Backend } from '../serve/backend.ts';
import { requireNoOtherRun } from '../serve/other-run.ts';
import { programBackend, requireProgram } from '../serve/program.ts';
import { PROTOCOLS, readTarget, type Target, type TargetOptions } from '../serve/target.ts';
import type { Session } from '../session.ts';

interface ServeOptions extends TargetOptions {
  readonly name?: string;
  readonly description?: string;
  readonly capability: string[];
  readonly price?: string;
  readonly port: number;
  readonly host: string;
  readonly endpoint?: string;
  readonly concurrency: number;
}

/** Price of an agent that is registered without one. */
const FIRST_PRICE = '0.01';

export function addServe(program: Command): void {
  program
    .command('serve')
    .argument(
      '<target>',
      'a program that reads a call as JSON on stdin and writes its result to stdout, or the URL of an endpoint',
    )
    .argument('[args...]', 'arguments of the program; after "--" also those with dashes')
    .addOption(
      new Option('--protocol <name>', 'protocol of the endpoint; mcp also for a local server on stdio').choices(
        PROTOCOLS,
      ),
    )
    .option('--model <name>', 'openai: the model (default: the only one)')
    .option('--tool <name>', 'mcp: the tool (default: the only one)')
    .option(
      '--header-env <name=variable>',
      'header for the endpoint, with its value from the environment; can be repeated',
      (pair: string, others: string[]) => [...others, pair],
      [],
    )
    .option('--name <name>', 'name of the agent (default: the program, or the host of the URL)')
    .option('--description <text>')
    .requiredOption('-c, --capability <names>', 'comma-separated capabilities', listOf)
    .option('--price <usdc>', 'price per request (default: the current price, or 0.01 for a new agent)', usdc)
    .addOption(
      new Option('--port <port>', 'port to listen on (default: any free one)').argParser(integer(0, 65_535)).default(0),
    )
    .option('--host <address>', 'address to listen on', '127.0.0.1')
    .option('--endpoint <url>', 'public URL that leads here (default: the local one)')
    .addOption(new Option('--concurrency <count>', 'maximum concurrent calls').argParser(integer(1, 100)).default(4))
    .description(
      'run a program, model, MCP tool or A2A agent as a paid agent: registers it, verifies its endpoint and shows its calls',
    )
    .action(action<[string, string[], ServeOptions]>(serve));
}

async function serve(session: Session, named: string, args: string[], options: ServeOptions): Promise<ExitCode> {
  session.requireClient();
  const { env } = session;
  const target = readTarget(named, options, env);
  const name = options.name ?? target.url?.host ?? named.split(/[\\/]/).at(-1) ?? named;
  const stop = Promise.withResolvers<void>();
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => stop.resolve());
  const backend = await openBackend(target, named, args, env);
  try {
    return await serveBackend(session, backend, name, options, stop.promise);
  } finally {
    await backend.close();
  }
}

/** The clients of the protocols are loaded when they are needed. */
async function openBackend(target: Target, named: string, args: string[], env: NodeJS.ProcessEnv): Promise<Backend> {
  const { protocol, url, headers, model, tool } = target;
  if (protocol === 'mcp') {
    const { mcpBackend } = await import('../serve/mcp.ts');
    return mcpBackend({ url, command: named, args, headers, env }, tool);
  }
  if (protocol === 'openai' && url) return (await import('../serve/openai.ts')).openaiBackend(url, headers, model);
  if (protocol === 'a2a' && url) return (await import('../serve/a2a.ts')).a2aBackend(url, headers);
  await requireProgram(named, env);
  return programBackend(named, args, env);
}

async function serveBackend(
  session: Session,
  backend: Backend,
  name: string,
  options: ServeOptions,
  stopped: Promise<void>,
): Promise<ExitCode> {
  const { terminal, url, apiKey, env } = session;
  const acquire = createSemaphore(options.concurrency);
  const tokenFile = join(configDir(env), 'agents', `${fileNameOf(url, name)}.json`);
  await requireNoOtherRun(session.client, tokenFile, { name, endpoint: options.endpoint });
  const agent = await serveAgent({
    port: options.port,
    host: options.host,
    ...(options.endpoint ? { endpoint: options.endpoint } : {}),
    registerWith: {
      baseUrl: url,
      apiKey: apiKey ?? '',
      ...{ tokenFile, name, capabilities: options.capability, rates: { perRequest: options.price ?? FIRST_PRICE } },
      ...(options.description ? { description: options.description } : {}),
    },
    handle: (call) => runShown(session, call, backend, acquire),
  });
  const { agentId = '' } = agent;
  try {
    await updateListing(session, agentId, options);
    terminal.item(
      { agentId, endpoint: options.endpoint ?? agent.url },
      () => `${agentId} at ${options.endpoint ?? agent.url}\n`,
    );
    terminal.note(
      'The node verifies the endpoint, then lists the agent as online. Ctrl-C stops it and takes the agent offline.',
    );
    await stopped;
  } finally {
    await agent.close();
  }
  await showEarnings(session, agentId);
  return EXIT.done;
}

/** Updates the listing of an agent that an earlier run registered; also refuses the agent of another account. */
async function updateListing(
  session: Session,
  agentId: string,
  { capability, price, description }: ServeOptions,
): Promise<void> {
  const { updated } = await session.requireClient().updateAgent({
    params: { id: agentId },
    body: {
      capabilities: capability,
      ...(price === undefined ? {} : { rates: { perRequest: price } }),
      ...(description === undefined ? {} : { description }),
    },
  });
  if (updated.length > 0) session.terminal.note(`Updated the listing of ${agentId}: ${updated.join(', ')}.`);
}

const fileNameOf = (url: string, name: string) =>
  createHash('sha256').update(`${url} ${name}`).digest('hex').slice(0, 24);

/** Lets at most `max` calls run at once; the others wait in order. Resolves to the function that releases the permit. */
function createSemaphore(max: number) {
  const waiting: (() => void)[] = [];
  let running = 0;
  return async (): Promise<() => void> => {
    if (running >= max) await new Promise<void>((resolve) => waiting.push(resolve));
    else running++;
    return () => {
      const next = waiting.shift();
      if (next) next();
      else running--;
    };
  };
}

const isGenerator = (value: unknown): value is AsyncGenerator<unknown, unknown> =>
  typeof value === 'object' && value !== null && Symbol.asyncIterator in value;

/** Runs a call when a permit is free, passes its pieces on, and shows how it ended. */
async function* runShown(
  { terminal }: Session,
  call: AgentCall,
  backend: Backend,
  acquire: () => Promise<() => void>,
): AsyncGenerator<unknown, unknown> {
  const { requestId, task, signal } = call;
  const startMs = performance.now();
  const release = await acquire();
  let state = 'failed';
  try {
    signal.throwIfAborted();
    const given = await backend.run(call);
    const result = isGenerator(given) ? yield* given : given;
    state = 'completed';
    return result;
  } finally {
    release();
    const tookMs = Math.round(performance.now() - startMs);
    terminal.item(
      { requestId, task, state, tookMs },
      () => `${requestId}  ${state}  ${tookMs} ms  ${oneLine(task).slice(0, 80)}\n`,
    );
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
