import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { AgentRegistration } from '@agent-network/contracts/agents/agents';
import { readAgent } from '../agents/alternatives/find-agent.ts';
import { verifyAgent } from '../agents/health/verify-agent.ts';
import { registerAgent } from '../agents/manage/register-agent.ts';
import { updateAgent } from '../agents/manage/update-agent.ts';
import type { NodeContext } from '../context.ts';
import type { StopStep } from '../lib/process/graceful-stop.ts';
import { until } from '../lib/until.ts';
import { freePort } from './free-port.ts';
import type { LocalKeys } from './local-keys.ts';

export interface LocalAgent {
  readonly id: string;
  readonly name: string;
  readonly identityToken: string;
  readonly endpoint: string;
}

interface Owner {
  readonly accountId: string;
  readonly address: string;
}

interface Description {
  readonly name: string;
  readonly description: string;
  readonly capabilities: readonly string[];
  readonly rates: { readonly perRequest: string };
}

const AGENTS_DIR = fileURLToPath(new URL('../../../../examples/agents/', import.meta.url));
const agentFiles = { echoAgent: 'echo.ts', textAnalystAgent: 'text-analyst.ts' } as const;
const RESPAWN_MS = 1000;
const ONLINE_WITHIN_MS = 15_000;

/** Starts the example agents as separate processes, registered with the local account and verified. */
export async function startLocalAgents(
  ctx: NodeContext,
  keys: LocalKeys,
  owner: Owner,
  stops: StopStep[],
): Promise<LocalAgent[]> {
  const descriptions = (await import(join(AGENTS_DIR, 'registrations.ts'))) as Record<
    keyof typeof agentFiles,
    Description
  >;
  const names = Object.keys(agentFiles) as (keyof typeof agentFiles)[];
  const agents = await Promise.all(
    names.map(async (name) => {
      const agent = await prepareAgent(ctx, keys, owner, descriptions[name]);
      await spawnAgent(ctx, agentFiles[name], agent, stops);
      return agent;
    }),
  );
  await bringOnline(ctx, owner, agents);
  return agents;
}

/** Registers the agent if necessary and gives it its port, or another one if that was taken meanwhile. */
async function prepareAgent(
  ctx: NodeContext,
  keys: LocalKeys,
  owner: Owner,
  description: Description,
): Promise<LocalAgent> {
  const known = keys.agents[description.name];
  const port = await freePort(known?.port ?? 0);
  const endpoint = `http://127.0.0.1:${port}/`;
  if (known && (await isRegistered(ctx, known.id))) {
    if (port !== known.port) await updateAgent(ctx, owner, known.id, { endpoint });
    keys.agents[description.name] = { ...known, port };
    return { id: known.id, name: description.name, identityToken: known.identityToken, endpoint };
  }
  const input = AgentRegistration.parse({ ...description, endpoint });
  const { id, identityToken } = await registerAgent(ctx, owner, input);
  keys.agents[description.name] = { id, identityToken, port };
  return { id, name: description.name, identityToken, endpoint };
}

const isRegistered = (ctx: NodeContext, id: string): Promise<boolean> =>
  readAgent(ctx, id).then(
    () => true,
    () => false,
  );

/** Starts the agent's process. It ends with this one, as its channel to us then closes; if it exits by itself it is restarted. */
async function spawnAgent(ctx: NodeContext, file: string, agent: LocalAgent, stops: StopStep[]): Promise<void> {
  let child: ChildProcess | undefined;
  let isStopping = false;
  const spawn = () => {
    child = fork(join(AGENTS_DIR, file), {
      env: {
        ...process.env,
        AGENT_PORT: new URL(agent.endpoint).port,
        AGENT_ENDPOINT: agent.endpoint,
        AGENT_IDENTITY_TOKEN: agent.identityToken,
      },
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    });
    child.once('exit', (code) => {
      if (isStopping) return;
      ctx.log.warn({ agent: agent.name, code }, 'example agent exited; restarting it');
      setTimeout(() => isStopping || spawn(), RESPAWN_MS).unref();
    });
    return child;
  };
  stops.push({
    name: `agent ${agent.name}`,
    stop: async () => {
      isStopping = true;
      if (child?.exitCode !== null || child.signalCode !== null) return;
      const ended = once(child, 'exit');
      child.kill('SIGTERM');
      await ended;
    },
  });
  await once(spawn(), 'message');
}

/** Verifies the agents now, rather than wait for health probes. */
async function bringOnline(ctx: NodeContext, owner: Owner, agents: readonly LocalAgent[]): Promise<void> {
  for (const { id, name } of agents) {
    const online = await until(async () => ((await verifyAgent(ctx, owner, id)).status === 'online' ? true : null), {
      timeoutMs: ONLINE_WITHIN_MS,
      firstMs: 20,
      mostMs: 500,
    });
    if (!online) ctx.log.warn({ agent: name }, 'example agent is not online yet');
  }
}
