import { setTimeout as sleep } from 'node:timers/promises';
import { killAll, leftOf, treeOf } from '../../support/process-tree.ts';
import { type ServiceProcess, startService } from '../../support/service-process.ts';

/** The processes of `npm start`: the node, its PostgreSQL, its chain and its agents, killed together and started again. */
export interface LocalGroup {
  /** Where it is, or null while it is not. */
  current(): ServiceProcess | null;
  /** kill -9 of every process at once. */
  kill(): Promise<void>;
  /** Starts it; resolves with how long that took. Throws with its last words when it does not start. */
  start(): Promise<number>;
  /** Starts it, and kills it on the way; resolves when nothing of it runs. It may have come up before. */
  startAndKill(afterMs: number): Promise<void>;
}

export function localGroup(dataDir: string, env: Record<string, string>): LocalGroup {
  let service: ServiceProcess | null = null;
  const killTree = async (pid: number) => {
    const processes = treeOf(pid);
    killAll(processes);
    const left = await leftOf(processes);
    if (left.length > 0) throw new Error(`processes ${left.map((each) => each.pid).join()} outlive a kill -9`);
  };
  return {
    current: () => service,
    async kill() {
      const pid = service?.pid;
      service = null;
      if (pid !== undefined) await killTree(pid);
    },
    async start() {
      service = await startService({ dataDir, env });
      return service.readyMs;
    },
    async startAndKill(afterMs) {
      const spawned = Promise.withResolvers<number>();
      const started = startService({ dataDir, env, onSpawn: spawned.resolve }).catch(() => null);
      const pid = await spawned.promise;
      await sleep(afterMs);
      await killTree(pid);
      await started;
    },
  };
}
