import { fork } from 'node:child_process';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { verifyAgent } from '../../agents/health/verify-agent.ts';
import { until } from '../../lib/concurrency/until.ts';
import type { StopStep } from '../../lib/process/graceful-stop.ts';
import type { NodeContext } from '../context.ts';
import type { LocalKeys } from './local-keys.ts';
import { type Description, type LocalAgent, type Owner, prepareAgent } from './prepare-agent.ts';
import { superviseProcess } from './supervised-process.ts';

const AGENTS_DIR = fileURLToPath(new URL('../../../../../examples/agents/', import.meta.url));
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
  const starting: Promise<LocalAgent>[] = [];
  for (const name of names) {
    const prepare = () => prepareAgent(ctx, keys, owner, descriptions[name]);
    // In turn: schemas of one owner are checked one at a time, and those that wait long are refused.
    const first = await prepare();
    starting.push(runAgent(ctx, join(AGENTS_DIR, agentFiles[name]), { first, prepare }, stops));
  }
  const agents = await Promise.all(starting);
  await bringOnline(ctx, owner, agents);
  return agents;
}

/** Runs the agent's process, which ends with this one, as its channel to us then closes. Its port may be taken before it listens there. */
async function runAgent(
  ctx: NodeContext,
  file: string,
  { first, prepare }: { readonly first: LocalAgent; prepare(): Promise<LocalAgent> },
  stops: StopStep[],
): Promise<LocalAgent> {
  let agent = first;
  let isFirst = true;
  const kept = superviseProcess({
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
  const verify = async ({ id, name }: LocalAgent) => {
    const online = await until(async () => ((await verifyAgent(ctx, owner, id)).status === 'online' ? true : null), {
      timeoutMs: ONLINE_WITHIN_MS,
      firstMs: 20,
      maxMs: 500,
    });
    if (!online) ctx.log.warn({ agent: name }, 'example agent is not online yet');
  };
  await Promise.all(agents.map(verify));
}
