import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { inputSchemaOf, templateContentTypes, templateMethods } from '@agent-network/contracts/agents/http-template';
import { createClient, isApiError } from '@agent-network/sdk';
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
import { proposeTarget } from '../serve/propose.ts';
import { PROTOCOLS, protocolOf, readTarget, type Target, type TargetOptions } from '../serve/target.ts';
import type { Session } from '../session.ts';

interface ServeOptions extends TargetOptions {
  readonly name?: string;
  readonly description?: string;
  readonly capability?: string[];
  readonly price?: string;
  readonly port: number;
  readonly host: string;
  readonly endpoint?: string;
  readonly concurrency: number;
}

/** Price of an agent that is registered without one. */
const FIRST_PRICE = '0.01';

const repeated = (text: string, others: string[]): string[] => [...others, text];

export function addServe(program: Command): void {
  program
    .command('serve')
    .argument(
      '<target>',
      'a program that reads a call as JSON on stdin and writes its result to stdout, or the URL of an endpoint',
    )
    .argument('[args...]', 'arguments of the program; after "--" also those with dashes')
    .addOption(
      new Option(
        '--protocol <name>',
        'protocol of the endpoint (default: the endpoint is asked); mcp also for a local server on stdio',
      ).choices(PROTOCOLS),
    )
    .option('--model <name>', 'openai: the model (default: the only one)')
    .option('--tool <name>', 'mcp: the tool (default: the only one)')
    .option('--body <json>', 'plain HTTP service: its JSON body, with {{task}}, {{input}} or {{input/name}} as texts')
    .option('--result <pointer>', 'plain HTTP service: JSON pointer to the result, or "text" (default: the answer)')
    .addOption(
      new Option('--method <method>', 'plain HTTP service (default: POST with a body, else GET)').choices(
        templateMethods,
      ),
    )
    .option('--query <name=value>', 'plain HTTP service: parameter of its URL; can be repeated', repeated, [])
    .addOption(
      new Option('--content-type <type>', 'plain HTTP service (default: application/json)').choices(
        templateContentTypes,
      ),
    )
    .option('--header <line>', 'header for the endpoint, as "Name: value"; can be repeated', repeated, [])
    .option(
      '--header-env <name=variable>',
      'header for the endpoint, with its value from the environment; can be repeated',
      repeated,
      [],
    )
    .option('--name <name>', 'name of the agent (default: the program, or the host of the URL)')
    .option('--description <text>')
    .option('-c, --capability <names>', 'comma-separated capabilities (default: a word of the name)', listOf)
    .option('--price <usdc>', 'price per request (default: the current price, or 0.01 for a new agent)', usdc)
    .addOption(
      new Option('--port <port>', 'port to listen on (default: any free one)').argParser(integer(0, 65_535)).default(0),
    )
    .option('--host <address>', 'address to listen on', '127.0.0.1')
    .option('--endpoint <url>', 'public URL that leads here (default: the local one)')
    .addOption(new Option('--concurrency <count>', 'maximum concurrent calls').argParser(integer(1, 100)).default(4))
    .description(
      'run a program, an HTTP service, a model, an MCP tool or an A2A agent as a paid agent: registers it, verifies its endpoint and shows its calls',
    )
    .action(action<[string, string[], ServeOptions]>(serve));
}

async function serve(session: Session, named: string, args: string[], options: ServeOptions): Promise<ExitCode> {
  session.requireClient();
  const { env } = session;
  const protocol = protocolOf(named, options);
  const target =
    protocol === null ? await proposeTarget(session, named, options) : readTarget(named, protocol, options, env);
  const name = options.name ?? nameOf(named, target);
  const stop = Promise.withResolvers<void>();
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => stop.resolve());
  const backend = await openBackend(target, named, args, env);
  try {
    return await serveBackend(session, backend, { ...options, name, target }, stop.promise);
  } finally {
    await backend.close();
  }
}

/** A service is named by its host and path, as one host may have several; a program by its file. */
function nameOf(named: string, { url, template }: Target): string {
  if (!url) return named.split(/[\\/]/).at(-1) ?? named;
  const [path = ''] = template?.path.split(/\?|\/?\{\{/) ?? [];
  return url.host + path.replace(/\/+$/, '');
}

/** A capability from the last word of a name, for an agent that is registered without any. */
const capabilityOf = (name: string): string =>
  name
    .toLowerCase()
    .split('/')
    .at(-1)
    ?.replaceAll(/[^a-z0-9._-]+/g, '-')
    .replace(/^[^a-z0-9]+/, '')
    .slice(0, 64) || 'service';

/** The clients of the protocols are loaded when they are needed. */
async function openBackend(target: Target, named: string, args: string[], env: NodeJS.ProcessEnv): Promise<Backend> {
  const { protocol, url, headers, model, tool, template } = target;
  if (template && url) return (await import('../serve/template.ts')).templateBackend(url, headers, template);
  if (protocol === 'mcp') {
    const { mcpBackend } = await import('../serve/mcp.ts');
    return mcpBackend({ url, command: named, args, headers, env }, tool);
  }
  if (protocol === 'openai' && url) return (await import('../serve/openai.ts')).openaiBackend(url, headers, model);
  if (protocol === 'a2a' && url) return (await import('../serve/a2a.ts')).a2aBackend(url, headers);
  await requireProgram(named, env);
  return programBackend(named, args, env);
}

interface Listing extends ServeOptions {
  readonly name: string;
  readonly target: Target;
}

async function serveBackend(
  session: Session,
  backend: Backend,
  options: Listing,
  stopped: Promise<void>,
): Promise<ExitCode> {
  const { terminal, url, apiKey, env } = session;
  const { name } = options;
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
      ...{ tokenFile, name, capabilities: options.capability ?? [capabilityOf(name)] },
      rates: { perRequest: options.price ?? FIRST_PRICE },
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
    await reportAccepting(url, tokenFile, true);
    terminal.note(await verified(session, agentId, name));
    await stopped;
    if (!(await reportAccepting(url, tokenFile, false)))
      terminal.note('The node could not be told that the agent stops; its checks will find out.');
  } finally {
    await agent.close();
  }
  await showEarnings(session, agentId);
  return EXIT.done;
}

const LEAVE_MS = 3000;

/** A client for what must not keep the program from ending. */
const briefClient = (baseUrl: string, apiKey: string | null) =>
  createClient({ baseUrl, apiKey: apiKey ?? undefined, timeoutMs: LEAVE_MS, maxRetries: 0 });

/** Reports, as the agent, that it accepts calls or not: without calls it is offline at once. False: the node was not reached. */
async function reportAccepting(url: string, tokenFile: string, accepting: boolean): Promise<boolean> {
  try {
    const { agentId, identityToken } = JSON.parse(await readFile(tokenFile, 'utf8')) as Record<string, string>;
    const client = briefClient(url, identityToken ?? null);
    await client.heartbeat({ params: { id: agentId ?? '' }, body: { accepting } });
    return true;
  } catch {
    return false;
  }
}

/** Has the node verify the endpoint now, and says how that went. Refuses the agent of another account. */
async function verified({ requireClient }: Session, agentId: string, name: string): Promise<string> {
  const found = await requireClient()
    .verifyIdentity({ body: { agentId, proof: 'endpoint' } })
    .catch((error: unknown) => {
      if (isApiError(error, 'FORBIDDEN') || isApiError(error, 'NOT_FOUND')) throw error;
      return null;
    });
  const ending = 'Ctrl-C stops it and takes the agent offline.';
  if (found === null || !('status' in found)) return `The node verifies the endpoint soon. ${ending}`;
  const { status, reason } = found;
  if (status === 'online') return `${oneLine(name)} is online. ${ending}`;
  return `${oneLine(name)} is not online yet: ${oneLine(reason ?? 'the next check decides')} ${ending}`;
}

/** Updates the listing of an agent that an earlier run registered. */
async function updateListing(
  session: Session,
  agentId: string,
  { capability, price, description, target }: Listing,
): Promise<void> {
  const client = session.requireClient();
  const params = { id: agentId };
  const inputSchema = target.template && inputSchemaOf(target.template);
  const isTyped = inputSchema === null || (await client.getAgent({ params })).types !== undefined;
  const body = {
    ...(capability === undefined ? {} : { capabilities: capability }),
    ...(price === undefined ? {} : { rates: { perRequest: price } }),
    ...(description === undefined ? {} : { description }),
    ...(isTyped ? {} : { types: { inputSchema } }),
  };
  if (Object.keys(body).length === 0) return;
  const { updated } = await client.updateAgent({ params, body });
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

async function showEarnings({ terminal, url, apiKey }: Session, agentId: string): Promise<void> {
  const found = await briefClient(url, apiKey)
    .listOwnAgents({ query: { agentId } })
    .catch(() => null);
  const [agent] = found?.agents ?? [];
  if (!agent) return;
  const { name, earned, balance, treasuryId } = agent;
  const withdraw =
    treasuryId && Number(balance.available) > 0
      ? ` Withdraw it: agentnet withdraw ${balance.available} --treasury ${treasuryId}`
      : '';
  terminal.note(
    `${oneLine(name)} has earned ${earned.days30} USDC in 30 days, ${earned.today} of it today. Its balance is ${balance.available} USDC.${withdraw}`,
  );
}
