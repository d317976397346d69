import { freePort } from '../../../src/compose/local/free-port.ts';
import type { ArmedFailpoint } from '../../../src/lib/process/failpoint.ts';
import type { NodeCluster, NodeProcess } from '../../support/node-cluster.ts';
import { letTimePass } from './let-time-pass.ts';

/** A service process that is started again whenever it dies, as an init system does. */
export interface UndyingNode {
  /** Where it is reached; waits while there is none. */
  baseUrl(): Promise<string>;
  /** Where the present process is to die, and its successors, one after the other, from their start. */
  arm(here: ArmedFailpoint, afterwards?: readonly ArmedFailpoint[]): Promise<void>;
  /** Kills the present process; another one is started. */
  kill(): Promise<void>;
  /** How often it died. */
  deaths(): number;
  /** Lets its next death be final. */
  release(): void;
}

const toText = ({ name, hit }: ArmedFailpoint) => `${name}:${hit}`;

export async function startUndyingNode(
  cluster: NodeCluster,
  { keepsAddress = false }: { keepsAddress?: boolean } = {},
): Promise<UndyingNode> {
  // Texts that wallets sign name the address of the node; entries in the registry follow a changed one.
  const port = keepsAddress ? String(await freePort(0)) : '0';
  let deaths = 0;
  let isReleased = false;
  let waiting: ArmedFailpoint[] = [];
  let current = start();

  /** A place that the start itself comes by may end it before it says where it is. */
  async function start(): Promise<NodeProcess> {
    const failpoint = waiting.shift();
    const started = await cluster
      .startProcess({ PORT: port, ...(failpoint ? { FAILPOINT: toText(failpoint) } : {}) })
      .catch((error: unknown) => {
        if (!failpoint) throw error;
        return null;
      });
    if (!started) return startAgain();
    void started.ended.then((signal) => {
      if (signal !== 'SIGKILL' || isReleased) return;
      current = startAgain();
      current.catch(() => undefined);
    });
    return started;
  }

  async function startAgain(): Promise<NodeProcess> {
    deaths += 1;
    await letTimePass(cluster.databaseUrl);
    return start();
  }

  await current;
  return {
    baseUrl: async () => (await current).baseUrl,
    async kill() {
      const { child, ended } = await current;
      child.kill('SIGKILL');
      await ended;
    },
    deaths: () => deaths,
    release() {
      isReleased = true;
    },
    async arm(here, afterwards = []) {
      waiting = [...afterwards];
      const { child } = await current;
      const armed = new Promise((resolve) => child.once('message', resolve));
      child.send(here);
      await armed;
    },
  };
}
