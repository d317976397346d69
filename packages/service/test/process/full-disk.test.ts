import { execFile } from 'node:child_process';
import { randomBytes, randomUUID } from 'node:crypto';
import { chown, mkdtemp, open, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { freePort } from '../../src/compose/local/free-port.ts';
import { postgresUser, whyNotPostgres } from '../chaos/ha/debian.ts';
import { askDatabase, contradictions, walletByBooks } from '../support/books.ts';
import { createDebianPostgres, type DebianPostgres } from '../support/debian-postgres.ts';
import type { Answer } from '../support/harness.ts';
import { isLong } from '../support/long.ts';
import { createRestorableNode, type RestorableNode } from '../support/restorable-node.ts';
import { answerWith, startTestAgent, type TestAgent } from '../support/test-agent.ts';
import { balanceOf, type Client, newClient, untilEnded } from '../support/treasury.ts';
import { until } from '../support/until.ts';

const run = promisify(execFile);
const whyNot = isLong ? whyNotPostgres() : 'it is part of npm run test:long';
const MIB = 1024 * 1024;

/** Calls under keys of their own, the agent's runs for them, and what was answered. */
interface Called {
  readonly key: string;
  answer: Answer;
}

describe.skipIf(whyNot !== null)(`a database that takes nothing${whyNot ? ` (${whyNot})` : ''}`, () => {
  let folder: string;
  let server: DebianPostgres;
  let node: RestorableNode;
  let agent: TestAgent;
  let client: Client;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'agent-network-full-disk-'));
    await run('mount', ['-t', 'tmpfs', '-o', 'size=320m', 'tmpfs', folder]);
    const { uid, gid } = postgresUser();
    await chown(folder, uid, gid);
    server = await createDebianPostgres({ folder, port: await freePort(0) }, [
      'max_wal_size = 64MB',
      'min_wal_size = 32MB',
      'shared_buffers = 32MB',
      'max_connections = 40',
    ]);
    await server.start();
    node = await createRestorableNode(await freePort(0));
    await node.startOn(server.url);
    agent = await startTestAgent(node, { perRequest: '0.01' });
    // Random results: tables grow by all of them.
    agent.behave((request, response) =>
      answerWith(200, { result: { task: request.body.task, blob: randomBytes(24_000).toString('base64') } })(
        request,
        response,
      ),
    );
    client = await newClient(node, '20.00');
  });
  afterAll(async () => {
    await agent?.die();
    await node?.stop();
    if (server?.isRunning()) await server.stop();
    await run('umount', ['--lazy', folder]);
    await rm(folder, { recursive: true, force: true });
  });

  const call = (key: string) =>
    node.request('POST', `/invoke/${agent.id}`, {
      key: client.key,
      body: { task: key },
      headers: { 'x-sync': 'true', 'x-payment-method': 'treasury', 'idempotency-key': key },
    });
  /** Calls until so many were refused. */
  async function callUntilRefused(count: number): Promise<Called[]> {
    const called: Called[] = [];
    const refused = () => called.filter(({ answer }) => answer.status !== 200).length;
    while (refused() < count && called.length < 600) {
      const keys = Array.from({ length: 4 }, () => randomUUID());
      called.push(...(await Promise.all(keys.map(async (key) => ({ key, answer: await call(key) })))));
    }
    expect(refused()).toBeGreaterThanOrEqual(count);
    return called;
  }
  /** Every refusal is a 503 that says when to come again; every call ends in one run, one charge and one result. */
  async function expectNothingLost(called: readonly Called[], available: string): Promise<void> {
    for (const { answer } of called.filter((each) => each.answer.status !== 200)) {
      expect(answer).toMatchObject({ status: 503, body: { error: { code: 'UNAVAILABLE' } } });
      expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0);
    }
    for (const each of called) {
      const done = await until(async () => {
        each.answer = await call(each.key);
        // A call that waited longer than a synchronous answer may take is told to ask for its request.
        const { requestId } = each.answer.body.data ?? {};
        return requestId ? await untilEnded(node, client.key, requestId) : null;
      });
      expect(done).toMatchObject({ status: 'completed', result: { task: each.key } });
    }
    const runs = called.map(({ key }) => new Set(runsOf(key)).size);
    expect(runs).toEqual(called.map(() => 1));
    const micro = BigInt(Math.round(Number(available) * 1e6)) - 10_000n * BigInt(called.length);
    expect(await balanceOf(node, client.key)).toEqual({ available: (Number(micro) / 1e6).toFixed(2), held: '0.00' });
    const [left] = await askDatabase<{ count: number }>(
      server.url,
      'select count(*)::int from invocation where completed_at is null',
    );
    expect(left?.count).toBe(0);
    expect(await contradictions(server.url)).toEqual([]);
    expect(await walletByBooks(server.url)).toBe(await node.usdcOf(node.walletAddress));
  }
  /** The Idempotency-Keys under which the agent was asked for a task: calls under one of them are one run. */
  const runsOf = (task: string) =>
    agent.calls.filter(({ body }) => body.task === task).map(({ headers }) => headers['idempotency-key']);

  it('because its disk is full refuses calls, and goes on by itself when there is room', async () => {
    const { available } = await balanceOf(node, client.key);
    const ballast = await open(join(folder, 'ballast'), 'w');
    const calling = callUntilRefused(40);
    await until(async () => agent.calls.length > 8);
    await fillDisk(ballast);
    const called = await calling;
    expect(called.length).toBeGreaterThan(40);
    await ballast.close();
    await rm(join(folder, 'ballast'));
    // A server that could not even write its log of changes has ended: that is the operator's to start again.
    if (!server.isRunning()) await server.start();
    await expectNothingLost(called, available);
  }, 300_000);

  it('because strangers have all its connections refuses calls, and goes on by itself when they leave', async () => {
    const { available } = await balanceOf(node, client.key);
    const strangers: pg.Client[] = [];
    const takeAll = async () => {
      for (;;) {
        const stranger = new pg.Client({ connectionString: server.url, application_name: 'stranger' });
        stranger.on('error', () => undefined);
        const isIn = await stranger.connect().then(
          () => true,
          () => false,
        );
        if (!isIn) return;
        strangers.push(stranger);
      }
    };
    await takeAll();
    const ended = `select count(pg_terminate_backend(pid)) from pg_stat_activity where application_name like 'agent-network%'`;
    await strangers[0]?.query(ended);
    await takeAll();
    const called = await callUntilRefused(8);
    await Promise.all(strangers.map((stranger) => stranger.end()));
    await expectNothingLost(called, available);
  }, 300_000);
});

/** Writes until the disk takes no more. */
async function fillDisk(file: Awaited<ReturnType<typeof open>>): Promise<void> {
  for (const size of [MIB, 4096]) {
    const block = Buffer.alloc(size, 1);
    const isWritten = () =>
      file.write(block).then(
        ({ bytesWritten }) => bytesWritten === size,
        (error: NodeJS.ErrnoException) => {
          if (error.code === 'ENOSPC') return false;
          throw error;
        },
      );
    while (await isWritten());
  }
}
