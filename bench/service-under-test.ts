import { chmod, mkdir, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Child, startNode } from './child-process.ts';
import type { StopList } from './stop-list.ts';

type Hex = `0x${string}`;

/** The node's description of itself (DATA_DIR/local.json). */
export interface Local {
  readonly baseUrl: string;
  readonly apiKey: string;
  readonly wallets: readonly { readonly address: Hex; readonly privateKey: Hex }[];
  readonly chain: { readonly rpcUrl: string; readonly usdc: Hex };
  readonly database: string;
  readonly agents: readonly { readonly id: string; readonly name: string }[];
}

export interface ServiceUnderTest {
  readonly local: Local;
  readonly echoAgentId: string;
  /** Where V8 leaves its profiles when the service has stopped; null without profiling. */
  readonly profileFolder: string | null;
  stop(): Promise<void>;
}

export interface ServiceOptions {
  readonly isProfiled: boolean;
  readonly chainRpcUrl?: string;
  readonly env?: Record<string, string>;
  /** A folder that outlives the run: the same node starts again on it. */
  readonly dataDir?: string;
}

const main = fileURLToPath(new URL('../packages/service/src/main.ts', import.meta.url));

const MIGRATED_WITHIN_MS = 900_000;

/** Starts a node as a newcomer has it after `npm start`, in a folder of its own: durable database, chain, example agents. */
export async function startService(
  stops: StopList,
  { isProfiled, chainRpcUrl, env = {}, ...kept }: ServiceOptions,
): Promise<ServiceUnderTest> {
  const folder = await mkdtemp(join(tmpdir(), 'agent-network-bench-'));
  stops.add(() => rm(folder, { recursive: true, force: true }));
  await chmod(folder, 0o755);
  const dataDir = kept.dataDir ?? join(folder, 'data');
  const profileFolder = isProfiled ? join(folder, 'profiles') : null;
  if (profileFolder) await mkdir(profileFolder);
  const profiling = profileFolder ? ['--cpu-prof', `--cpu-prof-dir=${profileFolder}`] : [];
  const child: Child = startNode([...profiling, main], {
    DATA_DIR: dataDir,
    PORT: '0',
    LOG_LEVEL: 'warn',
    // One account calls one agent, more at once than an account may by default.
    MAX_RUNNING: '16384',
    ...(chainRpcUrl === undefined ? {} : { CHAIN_RPC_URL: chainRpcUrl }),
    ...env,
  });
  stops.add(() => child.stop());
  // On a kept folder a start may migrate a large database.
  await child.line(/is running at/, kept.dataDir === undefined ? undefined : MIGRATED_WITHIN_MS);
  const local = JSON.parse(await readFile(join(dataDir, 'local.json'), 'utf8')) as Local;
  const echo = local.agents.find(({ name }) => name === 'Echo');
  if (!echo) throw new Error('the node has no echo agent');
  return { local, echoAgentId: echo.id, profileFolder, stop: () => child.stop() };
}
