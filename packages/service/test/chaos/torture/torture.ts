import { chmod, mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { silentLog } from '../../../src/lib/telemetry/log.ts';
import { startEmbeddedPostgres } from '../../../src/store/embedded-postgres.ts';
import { removePostgresDataDir } from '../../support/remove-data-dir.ts';
import { runBank } from './bank.ts';
import { runGroupKills } from './group-kills.ts';
import type { Tally } from './tally.ts';

const usage = `Runs a node of several processes under every fault at once, and then asks where every micro-USDC is.

  npm run torture -- --minutes 5 [--seed text] [--processes 2] [--clients 16] [--reorgs]
                     [--group-kills 5]   afterwards, kills all that npm start runs so often; alone with --minutes 0

Ends with 1 when anything was not as promised.
`;

const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '1' },
    seed: { type: 'string', default: String(Date.now()) },
    processes: { type: 'string', default: '2' },
    clients: { type: 'string', default: '16' },
    'group-kills': { type: 'string', default: '5' },
    reorgs: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
});

async function tortureProcesses(minutes: number): Promise<Tally> {
  const dataDir = await mkdtemp(join(tmpdir(), 'agent-network-torture-'));
  // As root, PostgreSQL's own user has to get in.
  await chmod(dataDir, 0o711);
  const postgres = await startEmbeddedPostgres({ dataDir, durable: false, log: silentLog });
  try {
    return await runBank({
      seed: values.seed,
      actsForMs: minutes * 60_000,
      restsWithinMs: 120_000,
      processes: Number(values.processes),
      clients: Number(values.clients),
      agents: 4,
      reorganises: values.reorgs,
      database: { url: postgres.url, drop: () => Promise.resolve() },
    });
  } finally {
    await postgres.stop();
    await removePostgresDataDir(dataDir);
  }
}

async function torture(): Promise<boolean> {
  const [minutes, kills] = [Number(values.minutes), Number(values['group-kills'])];
  const runs = [
    ...(minutes > 0 ? [() => tortureProcesses(minutes)] : []),
    ...(kills > 0 ? [() => runGroupKills({ seed: values.seed, kills })] : []),
  ];
  let isClean = true;
  for (const run of runs) {
    const tally = await run();
    process.stdout.write(`${tally.print()}\n\n`);
    isClean &&= tally.violations.length === 0;
  }
  return isClean;
}

if (values.help) process.stdout.write(usage);
else process.exitCode = (await torture()) ? 0 : 1;
