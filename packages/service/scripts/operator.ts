import pg from 'pg';
import { findMoneyContradictions } from '../src/calls/finish/audit-money.ts';
import { secretsOf } from '../src/chain/keys/node-keys.ts';
import { readSecrets, withSecretFiles } from '../src/config/keys.ts';
import { settingsInForce } from '../src/config/settings.ts';
import { systemClock } from '../src/lib/clock.ts';
import { silentLog } from '../src/lib/telemetry/log.ts';
import { readArchive } from '../src/operator/archive-store.ts';
import { archiveFaults } from '../src/operator/check-archive.ts';
import { drainProcesses, isDrained, undoDrain, type Which } from '../src/operator/drain-processes.ts';
import { listProcesses, readDatabase, readQueues, readSettlements } from '../src/operator/operator-store.ts';
import { reseal } from '../src/operator/reseal.ts';
import { type Decision, decidePayout } from '../src/payments/payouts/decide-payout.ts';
import { needsOperator, reportRestore, reportText, unreadText } from '../src/payments/reconcile/report-restore.ts';
import { type DatabaseOptions, openDatabase } from '../src/store/database.ts';
import { hostsOf } from '../src/store/primary/database-hosts.ts';
import { keptOn } from '../src/store/primary/durability.ts';
import { acceptHole, readHoles } from '../src/store/primary/hole-store.ts';
import { readPosition, readReplication } from '../src/store/primary/server-position-store.ts';
import { databaseUrlOf, readArguments, runCommand, UsageError } from './command-line.ts';

const usage = `For the operator of a node, on its database: DATABASE_URL, or that of the local node which was started here.
Prints JSON; ends with 1 when something is wrong, with 2 when the command is.

  npm run operator -- settings                      every setting with its value in force, as this environment has it; keys are not printed
  npm run operator -- status                        processes with version and draining, queues, settlements, replication, holes
  npm run operator -- reconcile                     holds every request against the ledger; lists contradictions
  npm run operator -- reconcile --report [--json]   what the chain told after a restore: repaired, and to be decided
                                                    (ends with 1 when something is to be decided, 3 before the chain was read)
  npm run operator -- decide <payout> --by <name>   with --charge <treasury, suspense account or fees>, --loss (the node bears it)
                                                    or --own (the operator's money, which the books never had)
  npm run operator -- backup-check                  whether the archive of WAL works
  npm run operator -- drain --process <id, place or label> | --all [--wait <seconds, 60>]
                                                    takes no more calls there; ends with 0 once nothing runs, else with 1 after the wait
  npm run operator -- drain --undo --process <…> | --all
  npm run operator -- reseal                        seals everything with the newest SECRET_KEY; afterwards the older ones can be removed
                                                    (ends with 1 while something is sealed with a key that SECRET_KEY lacks)
  npm run operator -- accept-database --by <name>   goes on over a hole: the node uses a database that lacks acknowledged commits
`;

const print = (value: unknown) =>
  console.log(JSON.stringify(value, (_, each) => (typeof each === 'bigint' ? String(each) : each), 2));

/** Asks the server itself, past the gate: the hole is what is to be seen. */
async function onServer<T>(url: string, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const hosts = hostsOf(url);
  for (let left = hosts.count; ; left--) {
    const tried = hosts.current();
    const client = new pg.Client(tried);
    try {
      await client.connect();
      if ((await readPosition(client, [])).isStandby) throw new Error('every host is a standby');
      return await work(client);
    } catch (error) {
      if (left === 1) throw error;
      hosts.leave(tried);
    } finally {
      await client.end().catch(() => undefined);
    }
  }
}

/** For a check that reads all rows, in statements side by side. */
const WHOLE = { max: 5, isUnlimited: true };

async function onNode<T>(
  url: string,
  work: (db: ReturnType<typeof openDatabase>) => Promise<T>,
  options: Partial<DatabaseOptions> = {},
): Promise<T> {
  const db = openDatabase(url, { max: 2, log: silentLog, ...options });
  try {
    return await work(db);
  } finally {
    await db.close();
  }
}

interface Options {
  readonly by?: string;
  readonly process?: string;
  readonly all?: boolean;
  readonly wait?: string;
  readonly undo?: boolean;
  readonly report?: boolean;
  readonly json?: boolean;
  readonly charge?: string;
  readonly loss?: boolean;
  readonly own?: boolean;
  /** Object of the command. */
  readonly subject?: string | undefined;
}

function whichOf({ process: name, all }: Options): Which {
  if (all === (name !== undefined))
    throw new UsageError('drain needs either --process <id, place or label> or --all; status lists the processes.');
  return name === undefined ? 'all' : { name };
}

function waitOf({ wait = '60' }: Options): number {
  if (!/^\d{1,6}$/.test(wait)) throw new UsageError('--wait takes whole seconds.');
  return Number(wait) * 1000;
}

const NOT_READ_YET = 3;

/** Reports the findings on the chain after a restore. */
async function report(db: ReturnType<typeof openDatabase>, isJson: boolean): Promise<number> {
  const found = await reportRestore({ db });
  const contradictions = await findMoneyContradictions({ db });
  const unread = unreadText(found);
  if (isJson) print({ ...found, contradictions });
  else {
    if (unread !== null) console.log(`${unread}\n`);
    console.log(reportText(found));
    for (const { kind, subject, detail } of contradictions) console.log(`Contradiction: ${kind}: ${subject} ${detail}`);
  }
  if (unread !== null) return NOT_READ_YET;
  return needsOperator(found) || contradictions.length > 0 ? 1 : 0;
}

function decisionOf({ charge, loss, own }: Options): Decision | null {
  if ([charge !== undefined, loss, own].filter(Boolean).length !== 1) return null;
  return charge === undefined ? { kind: loss ? 'loss' : 'own' } : { kind: 'charge', account: charge };
}

/** Each answers whether all is well, or the number that it ends with. */
const commands: Record<string, (url: string, options: Options) => Promise<boolean | number>> = {
  async status(url) {
    const server = await onServer(url, async (client) => {
      const replication = await readReplication(client);
      const { systemId, timeline } = await readPosition(client, []);
      const { open } = await readHoles(client);
      return { systemId, timeline, keptOn: replication && keptOn(replication), replication, hole: open };
    });
    if (server.hole) {
      print({ server });
      return false;
    }
    const now = new Date();
    const node = await onNode(url, async (db) => ({
      processes: await listProcesses(db),
      queues: await readQueues(db, now),
      settlements: await readSettlements(db, now),
      database: await readDatabase(db),
    }));
    print({ server, ...node });
    return true;
  },
  async reconcile(url, { report: isReport, json }) {
    if (isReport) return onNode(url, (db) => report(db, json ?? false));
    const contradictions = await onNode(url, (db) => findMoneyContradictions({ db }), WHOLE);
    print({ contradictions });
    return contradictions.length === 0;
  },
  async 'backup-check'(url) {
    const archive = await onNode(url, readArchive);
    const faults = archiveFaults(archive);
    print({ archive, faults });
    return faults.length === 0;
  },
  async drain(url, options) {
    const which = whichOf(options);
    const waitMs = waitOf(options);
    return onNode(url, async (db) => {
      if (options.undo) {
        print({ undone: await undoDrain({ db }, which) });
        return true;
      }
      const tell = (standing: unknown) => console.error(JSON.stringify(standing));
      const processes = await drainProcesses({ db }, { which, waitMs, tell });
      print({ processes });
      return processes.every(isDrained);
    });
  },
  async decide(url, options) {
    const { subject: id, by } = options;
    const decision = decisionOf(options);
    if (!id || !by || !decision)
      throw new UsageError(
        'decide needs a payout, --by <your name>, and one of --charge <account>, --loss and --own; reconcile --report lists the payouts.',
      );
    print({ decided: await onNode(url, (db) => decidePayout({ db, clock: systemClock }, { id, decision, by })) });
    return true;
  },
  async reseal(url) {
    const { secretKeys } = readSecrets(withSecretFiles(process.env), 'local');
    if (secretKeys === null) throw new UsageError('Set SECRET_KEY to the keys of the node, the newest first.');
    const resealed = await onNode(url, (db) => reseal({ db }, secretsOf(secretKeys)));
    print({ resealed });
    return resealed.every(({ unreadable }) => unreadable === 0);
  },
  async 'accept-database'(url, { by }) {
    if (!by) throw new UsageError('accept-database needs --by <your name>: it is kept with your word.');
    const hole = await onServer(url, (client) => acceptHole(client, by));
    print({ accepted: hole });
    return hole !== null;
  },
};

const options = {
  by: { type: 'string' },
  process: { type: 'string' },
  all: { type: 'boolean', default: false },
  wait: { type: 'string' },
  undo: { type: 'boolean' },
  report: { type: 'boolean' },
  json: { type: 'boolean' },
  charge: { type: 'string' },
  loss: { type: 'boolean' },
  own: { type: 'boolean' },
} as const;

/** The command in the given words, also written apart (`backup check`), and its subject. */
function commandOf(words: readonly string[]) {
  const whole = words.join('-');
  const name = Object.hasOwn(commands, whole) ? whole : (words[0] ?? '');
  const command = Object.hasOwn(commands, name) ? commands[name] : undefined;
  if (!command) throw new UsageError(`There is no command "${name}": --help lists them.`);
  const [subject, ...more] = name === whole ? [] : words.slice(1);
  const extra = name === 'decide' ? more[0] : subject;
  if (extra !== undefined) throw new UsageError(`${name} does not accept "${extra}". Run it with --help.`);
  return { command, subject };
}

await runCommand(async () => {
  const given = readArguments(usage, options);
  if (given === null) return;
  if (given.positionals.join(' ') === 'settings') return print(settingsInForce(process.env));
  const { command, subject } = commandOf(given.positionals);
  const end = await command(databaseUrlOf(process.env), { ...given.values, subject });
  process.exitCode = typeof end === 'number' ? end : end ? 0 : 1;
});
