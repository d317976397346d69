import { randomBytes } from 'node:crypto';
import { chmod, mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import pg from 'pg';
import { createLog, silentLog } from '../../../src/lib/telemetry/log.ts';
import { startEmbeddedPostgres } from '../../../src/store/embedded-postgres.ts';
import { migrate } from '../../../src/store/migrate.ts';
import { withDatabase } from '../../support/database-url.ts';
import { removePostgresDataDir } from '../../support/remove-data-dir.ts';
import type { TestDatabase } from '../../support/test-database.ts';
import { type ModelReport, runModel } from './run-model.ts';

const usage = `Lets clients, agents, chain and processes do what they like, and compares where all money is with a small model.

  npm run model -- --runs 5000 [--seed 1] [--commands 24]
  npm run model -- --seed 1 --path 17:3 --replay AABC:F [--log]
                   as a failure told: the same commands again, with what the node logs of them

Ends with 1 when anything was not as the model has it.
`;

const { values } = parseArgs({
  options: {
    runs: { type: 'string', default: '1000' },
    seed: { type: 'string', default: String(Date.now() % 2 ** 31) },
    commands: { type: 'string', default: '24' },
    path: { type: 'string' },
    replay: { type: 'string' },
    log: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
});

async function model(): Promise<boolean> {
  const dataDir = await mkdtemp(join(tmpdir(), 'agent-network-model-'));
  // As root, PostgreSQL's own user has to get in.
  await chmod(dataDir, 0o711);
  const postgres = await startEmbeddedPostgres({ dataDir, durable: false, log: silentLog });
  try {
    const report = await runModel({
      runs: Number(values.runs),
      seed: Number(values.seed),
      commands: Number(values.commands),
      path: values.path,
      replayPath: values.replay,
      log: values.log ? createLog({ level: 'debug', destination: process.stderr }) : undefined,
      newDatabase: () => newDatabase(postgres.url),
      onRun: (runs) => runs % 100 === 0 && process.stderr.write(`${runs} runs\n`),
    });
    process.stdout.write(print(report));
    return report.failure === null;
  } finally {
    await postgres.stop();
    await removePostgresDataDir(dataDir);
  }
}

async function newDatabase(adminUrl: string): Promise<TestDatabase> {
  const name = `model_${randomBytes(8).toString('hex')}`;
  await asAdmin(adminUrl, `create database ${name}`);
  const url = withDatabase(adminUrl, name);
  await migrate(url, silentLog);
  return { url, drop: () => asAdmin(adminUrl, `drop database if exists ${name} with (force)`) };
}

async function asAdmin(adminUrl: string, statement: string): Promise<void> {
  const admin = new pg.Client(adminUrl);
  await admin.connect();
  await admin.query(statement).finally(() => admin.end());
}

function print({ runs, tally, elapsedMs, failure }: ModelReport): string {
  const counts = [...tally].sort(([, a], [, b]) => b - a);
  const commands = counts.reduce((sum, [, count]) => sum + count, 0);
  const lines = [
    `seed ${values.seed}: ${runs} runs, ${commands} commands in ${Math.round(elapsedMs / 1000)} s, ${(elapsedMs / Math.max(1, runs)).toFixed(1)} ms a run`,
    counts.map(([name, count]) => `${name} ${count}`).join(', '),
    failure ?? 'Every micro-USDC was where the model has it.',
  ];
  return `${lines.join('\n')}\n`;
}

if (values.help) process.stdout.write(usage);
else process.exitCode = (await model()) ? 0 : 1;
