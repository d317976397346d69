import { fork } from 'node:child_process';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { AgentRegistration } from '@agent-network/contracts/agents/agents';
import { readAgent } from '../agents/alternatives/find-agent.ts';
import { verifyAgent } from '../agents/health/verify-agent.ts';
import { registerAgent } from '../agents/manage/register-agent.ts';
import { updateAgent } from '../agents/manage/update-agent.ts';
import type { NodeContext } from '../context.ts';
import { AppError } from '../lib/app-error.ts';
import { until } from '../lib/concurrency/until.ts';
import type { StopStep } from '../lib/process/graceful-stop.ts';
import { freePort } from './free-port.ts';
import { keepProcess } from './kept-process.ts';
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
const agentFiles = {
  echoAgent: 'echo.ts',
  textAnalystAgent: 'text-analyst.ts',
  caseConverterAgent: 'case-converter.ts',
} as const;
const RESPAWN_MS = 1000;
const UP_WITHIN_MS = 15_000;
const ONLINE_WITHIN_MS = 15_000;

/**
 * Starts the example agents as separate processes, registered with the local account and verified. One that does not come up in time is
 * warned of, and tried further.
 */
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
    names.map((name) => {
      const prepare = () => prepareAgent(ctx, keys, owner, descriptions[name]);
      return runAgent(ctx, join(AGENTS_DIR, agentFiles[name]), prepare, stops);
    }),
  );
  await bringOnline(ctx, owner, agents);
  return agents;
}

/** Registers the agent if necessary, at its port, or at another one if that is taken. */
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
    await updateAgent(ctx, owner, known.id, { endpoint });
    keys.agents[description.name] = { ...known, port };
    return { id: known.id, name: description.name, identityToken: known.identityToken, endpoint };
  }
  const input = AgentRegistration.parse({ ...description, endpoint });
  const { id, identityToken } = await registerAgent(ctx, owner, input);
  keys.agents[description.name] = { id, identityToken, port };
  return { id, name: description.name, identityToken, endpoint };
}

/** Throws what else than its absence keeps the agent from being read: a second one would be registered beside it. */
const isRegistered = (ctx: NodeContext, id: string): Promise<boolean> =>
  readAgent(ctx, id).then(
    () => true,
    (error: unknown) => {
      if (error instanceof AppError && error.code === 'NOT_FOUND') return false;
      throw error;
    },
  );

/** Runs the agent's process, which ends with this one, as its channel to us then closes. Its port may be taken before it listens there. */
async function runAgent(
  ctx: NodeContext,
  file: string,
  prepare: () => Promise<LocalAgent>,
  stops: StopStep[],
): Promise<LocalAgent> {
  let agent = await prepare();
  let isFirst = true;
  const kept = keepProcess({
    async start() {
      if (!isFirst) agent = await prepare();
      isFirst = false;
      return fork(file, {
        env: { ...process.env, ...settingsOf(agent) },
        stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
      });
    },
    onEnd: (cause) => ctx.log.warn({ agent: agent.name, cause }, 'example agent ended; starting it again'),
    pauseMs: RESPAWN_MS,
  });
  stops.push({ name: `agent ${agent.name}`, stop: () => kept.stop() });
  const isUp = await Promise.race([kept.isUp.then(() => true), sleep(UP_WITHIN_MS, false, { ref: false })]);
  if (!isUp) ctx.log.warn({ agent: agent.name }, 'example agent has not started yet');
  return agent;
}

const settingsOf = ({ endpoint, identityToken }: LocalAgent) => ({
  AGENT_PORT: new URL(endpoint).port,
  AGENT_ENDPOINT: endpoint,
  AGENT_IDENTITY_TOKEN: identityToken,
});

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
