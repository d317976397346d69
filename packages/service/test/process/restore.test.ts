import { execFile, type SpawnOptions } from 'node:child_process';
import { chown, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { freePort } from '../../src/compose/local/free-port.ts';
import { postgresUser, whyNotRestore } from '../chaos/ha/debian.ts';
import { askDatabase, contradictions, walletByBooks } from '../support/books.ts';
import { createDebianPostgres } from '../support/debian-postgres.ts';
import { isLong } from '../support/long.ts';
import { createRestorableNode, type RestorableNode } from '../support/restorable-node.ts';
import { answerWith, startTestAgent, type TestAgent } from '../support/test-agent.ts';
import { balanceOf, type Client, deposit, newClient, untilUsdc } from '../support/treasury.ts';
import { payV2 } from '../support/x402-payer.ts';

const run = promisify(execFile);
const ROOT = join(import.meta.dirname, '../../../..');
const whyNot = isLong ? whyNotRestore() : 'it is part of npm run test:long';

/** Debian's PostgreSQL and pgBackRest, with the settings of deploy/backup and the commands of the runbook. */
async function startServer() {
  const user = postgresUser();
  const folder = await mkdtemp(join(tmpdir(), 'agent-network-pgbackrest-'));
  await chown(folder, user.uid, user.gid);
  const as: SpawnOptions = { ...user, cwd: folder, env: { PATH: process.env.PATH, HOME: folder, TZ: 'UTC' } };
  const port = await freePort(0);
  const [data, config] = [join(folder, 'data'), join(folder, 'pgbackrest.conf')];
  const given = await readFile(join(ROOT, 'deploy/backup/pgbackrest.conf'), 'utf8');
  const own = given
    .replace('/var/lib/postgresql/15/main', data)
    .replace('/var/lib/pgbackrest', join(folder, 'repository'))
    .replace('pg1-port=5432', `pg1-port=${port}\npg1-socket-path=${folder}`)
    .replace('[global]', `[global]\nlock-path=${join(folder, 'lock')}`);
  await writeFile(config, own);
  for (const each of ['repository', 'lock']) {
    await mkdir(join(folder, each));
    await chown(join(folder, each), user.uid, user.gid);
  }
  const runbook = await readFile(join(ROOT, 'docs/operating-a-node.md'), 'utf8');
  const commands = [...runbook.matchAll(/^\s*pgbackrest (--stanza=.*)$/gm)].map(([, options]) => options ?? '');
  /** Runs the command of the runbook that ends with this word. */
  const pgbackrest = async (verb: string, target = '') => {
    const command = commands.find((each) => each.endsWith(verb));
    if (!command) throw new Error(`the runbook has no ${verb}`);
    const options = command.replace(/--target="[^"]*"/, `--target=${target.replace(' ', '_')}`).split(' ');
    const list = [`--config=${config}`, ...options.map((each) => each.replace('_', ' '))];
    return (await run('pgbackrest', list, as)).stdout;
  };
  const archive = await readFile(join(ROOT, 'deploy/backup/postgresql.conf'), 'utf8');
  const settings = [archive.replace('pgbackrest --stanza', `pgbackrest --config=${config} --stanza`)];
  const postgres = await createDebianPostgres({ folder, port }, settings);
  return { ...postgres, pgbackrest, remove: () => rm(folder, { recursive: true, force: true }) };
}

describe.skipIf(whyNot !== null)(`a point-in-time restore with pgBackRest${whyNot ? ` (${whyNot})` : ''}`, () => {
  let server: Awaited<ReturnType<typeof startServer>>;
  let node: RestorableNode;
  let agent: TestAgent;
  let [saver, spender]: Client[] = [];
  const known = (client: Client | undefined): Client => client as Client;
  beforeAll(async () => {
    server = await startServer();
    await server.start();
    node = await createRestorableNode(await freePort(0));
  });
  afterAll(async () => {
    await agent?.die();
    await node?.stop();
    await server?.stop().catch(() => undefined);
    await server?.remove();
  });

  it('to before payments, withdrawals and refunds pays nobody twice, and its books are what the wallet has', async () => {
    await server.pgbackrest('stanza-create');
    await server.pgbackrest(' check');
    await node.startOn(server.url);
    agent = await startTestAgent(node, { perRequest: '0.05' });
    [saver, spender] = await Promise.all([newClient(node, '5.00'), newClient(node, '2.00')]);
    await server.pgbackrest('--type=full backup');
    await deposit(node, known(saver).key, known(saver).treasuryId, '1.00');
    await server.pgbackrest('--type=incr backup');
    const [at] = await askDatabase<{ now: string }>(server.url, 'select clock_timestamp()::text as now');
    await askDatabase(server.url, 'select pg_sleep(1.2)');

    const [payer, other] = [await node.newWallet(), await node.newWallet(0n)];
    agent.behave(answerWith(400, { error: 'I can not do that' }));
    const call = { key: known(saver).key, body: { task: 'x' }, headers: { 'x-payment-method': 'x402' } };
    const headers = await payV2(node, payer, await node.request('POST', `/invoke/${agent.id}`, call));
    await node.request('POST', `/invoke/${agent.id}`, { ...call, headers: { ...call.headers, ...headers } });
    const withdraw = (client: Client | undefined, amount: string, to: string) =>
      node.request('POST', '/payments/withdraw', { key: known(client).key, body: { amount, to } });
    expect((await withdraw(saver, '4.00', known(saver).address)).status).toBe(200);
    expect((await withdraw(spender, '2.00', other.address)).status).toBe(200);
    await deposit(node, known(spender).key, known(spender).treasuryId, '0.70');
    expect(await untilUsdc(node, payer.address, 1_000_000_000n)).toBe(1_000_000_000n);
    expect(await untilUsdc(node, known(saver).address, 4_000_000n)).toBe(4_000_000n);
    expect(await untilUsdc(node, other.address, 2_000_000n)).toBe(2_000_000n);
    const wallet = await node.usdcOf(node.walletAddress);
    await node.stopNode();
    await server.stop();
    await server.pgbackrest('restore', at?.now);
    await server.start();
    expect(await walletByBooks(server.url)).toBe(8_000_000n);

    await node.startOn(server.url);
    expect(await balanceOf(node, known(saver).key)).toMatchObject({ available: '2.00' });
    expect(await balanceOf(node, known(spender).key)).toMatchObject({ available: '0.00' });
    const again = await withdraw(spender, '2.00', other.address);
    expect(again.body).toMatchObject({ error: { code: 'INSUFFICIENT_FUNDS' } });
    const { stdout } = await run(
      process.execPath,
      ['packages/service/scripts/operator.ts', 'reconcile', '--report', '--json'],
      {
        cwd: ROOT,
        env: { PATH: process.env.PATH, DATABASE_URL: server.url },
      },
    );
    const report = JSON.parse(stdout);
    expect(report).toMatchObject({ isRead: true, undecided: [], due: [], contradictions: [] });
    expect(report.repaired).toHaveLength(3);
    expect(report.waiting).toMatchObject({ unshownCount: 1, unshownMicro: '700000' });
    expect(await node.usdcOf(node.walletAddress)).toBe(wallet);
    expect(await walletByBooks(server.url)).toBe(wallet - 700_000n);
    expect(await contradictions(server.url)).toEqual([]);
    expect(await node.usdcOf(payer.address)).toBe(1_000_000_000n);
  }, 240_000);
});
