/** Reads the registry of a chain into an empty database, and prints time and memory. Started by bench-index.ts. */
import { identityRegistryByChain, LOCAL_CHAIN_ID } from '@agent-network/chain/addresses';
import { systemClock } from '../packages/service/src/lib/clock.ts';
import { createMetrics } from '../packages/service/src/lib/metrics.ts';
import { createLog } from '../packages/service/src/lib/telemetry/log.ts';
import { createRegistryReader } from '../packages/service/src/registry/read/read-registry.ts';
import {
  createRegistryClient,
  type RegistryClient,
} from '../packages/service/src/registry/read/registry-log-client.ts';
import { openDatabase } from '../packages/service/src/store/database.ts';

const [databaseUrl = '', rpcUrl = ''] = process.argv.slice(2);
const log = createLog({ level: 'warn', destination: process.stderr });
const address = identityRegistryByChain[LOCAL_CHAIN_ID].toLowerCase();
const registry = { chainId: LOCAL_CHAIN_ID, address, startBlock: 0n, isLocal: true, pollMs: 250 };
const db = openDatabase(databaseUrl, { max: 2, log });
const chain = createRegistryClient({ rpcUrl, registry });
let chainMs = 0;
const registryClient: RegistryClient = {
  ...chain,
  async logsIn(from, to) {
    const askedMs = performance.now();
    return chain.logsIn(from, to).finally(() => {
      chainMs += performance.now() - askedMs;
    });
  },
};
const parts = { db, clock: systemClock, log, metrics: createMetrics(), registry, registryClient };
const reader = createRegistryReader({ ...parts, chain: { wallet: '0x' } as never, nodeLabel: 'bench' });
const { head } = await registryClient.head();

const startMs = performance.now();
const startMib = process.memoryUsage().rss / 2 ** 20;
let block: bigint | undefined;
while (block === undefined || block < head.block) {
  await reader.read();
  const [row] = await db.query<{ block: bigint }>('', 'select max(block_number) as block from registry_point');
  block = row?.block;
}
const seconds = (performance.now() - startMs) / 1000;
const [rows] = await db.query<{ logs: bigint; tokens: bigint }>(
  '',
  'select (select count(*) from registry_log) as logs, (select count(*) from registry_token) as tokens',
);
const peakMib = process.resourceUsage().maxRSS / 1024;
const cpuSeconds = (process.cpuUsage().user + process.cpuUsage().system) / 1e6;
process.send?.({
  seconds,
  chainSeconds: chainMs / 1000,
  cpuSeconds,
  startMib,
  peakMib,
  logs: Number(rows?.logs),
  tokens: Number(rows?.tokens),
});
await db.close();
process.disconnect?.();
