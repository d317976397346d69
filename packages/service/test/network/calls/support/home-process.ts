import { generatePrivateKey, privateKeyToAddress } from 'viem/accounts';
import { freePort } from '../../../../src/compose/local/free-port.ts';
import { askDatabase } from '../../../support/books.ts';
import { type Harness, send } from '../../../support/harness.ts';
import { type NodeCluster, type NodeProcess, startCluster } from '../../../support/node-cluster.ts';

/** A node that is a process of its own and can be killed; its chain and its database outlive it. */
export interface HomeProcess extends Pick<NodeCluster, 'newAccount' | 'newWallet' | 'usdcOf' | 'databaseUrl' | 'ctx'> {
  readonly baseUrl: string;
  readonly rpcUrl: string;
  readonly registrar: `0x${string}`;
  request: Harness['request'];
  /** SIGKILL, as by a power cut. */
  kill(): Promise<void>;
  /** Starts it again at the same address. */
  revive(): Promise<void>;
  stop(): Promise<void>;
}

export async function startHomeProcess(label: string): Promise<HomeProcess> {
  const cluster = await startCluster();
  const port = await freePort(0);
  const baseUrl = `http://127.0.0.1:${port}`;
  const registrarKey = generatePrivateKey();
  const env = { PORT: String(port), BASE_URL: baseUrl, NODE_LABEL: label, REGISTRAR_PRIVATE_KEY: registrarKey };
  let running: NodeProcess = await cluster.startProcess(env);
  return {
    ...cluster,
    baseUrl,
    rpcUrl: cluster.chain.rpcUrl,
    registrar: privateKeyToAddress(registrarKey),
    request: (method, path, options) => send(baseUrl, method, path, options),
    async kill() {
      await running.kill();
      // The next process need not wait for the heartbeats that it misses.
      await askDatabase(cluster.databaseUrl, 'delete from process');
    },
    async revive() {
      running = await cluster.startProcess(env);
    },
  };
}
