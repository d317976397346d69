import { chmod, mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { startEmbeddedPostgres } from '../../src/db/embedded-postgres.ts';
import { silentLog } from '../../src/lib/log.ts';
import { removePostgresDataDir } from '../support/remove-data-dir.ts';
import { runBank } from './bank.ts';

const usage = `Runs a node of several processes under every fault at once, and then asks where every micro-USDC is.

  npm run torture -- --minutes 5 [--seed text] [--processes 2] [--clients 16] [--reorgs]

Ends with 1 when anything was not as promised.
`;

const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '1' },
    seed: { type: 'string', default: String(Date.now()) },
    processes: { type: 'string', default: '2' },
    clients: { type: 'string', default: '16' },
    reorgs: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
});

async function torture(): Promise<boolean> {
  const dataDir = await mkdtemp(join(tmpdir(), 'agent-network-torture-'));
  // As root, PostgreSQL's own user has to get in.
  await chmod(dataDir, 0o711);
  const postgres = await startEmbeddedPostgres({ dataDir, durable: false, log: silentLog });
  try {
    const tally = await runBank({
      seed: values.seed,
      actsForMs: Number(values.minutes) * 60_000,
      restsWithinMs: 120_000,
      processes: Number(values.processes),
      clients: Number(values.clients),
      agents: 4,
      reorganises: values.reorgs,
      database: { url: postgres.url, drop: () => Promise.resolve() },
    });
    process.stdout.write(`${tally.print()}\n`);
    return tally.violations.length === 0;
  } finally {
    await postgres.stop();
    await removePostgresDataDir(dataDir);
  }
}

if (values.help) process.stdout.write(usage);
else process.exitCode = (await torture()) ? 0 : 1;
