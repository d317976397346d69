import { batchExecutorAbi } from '@agent-network/chain/batch-executor';
import { encodeAbiParameters, encodeEventTopics } from 'viem';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { newId } from '../../../src/lib/id.ts';
import { announceNode } from '../../../src/registry/write/announce-node.ts';
import { insertFeedbackWrite } from '../../../src/registry/write/feedback-write-store.ts';
import { queueWrite } from '../../../src/registry/write/queue-write.ts';
import { recordWrites } from '../../../src/registry/write/record-writes.ts';
import { registerCall } from '../../../src/registry/write/registry-calls.ts';
import { firstBatch } from '../../../src/registry/write/registry-write.ts';
import { lockDueWrites, markSent } from '../../../src/registry/write/registry-write-store.ts';
import { createRegistryWriter } from '../../../src/registry/write/registry-writer.ts';
import { createWriteAhead } from '../../../src/registry/write/send-writes.ts';
import { askDatabase } from '../../support/books.ts';
import { fixedClock } from '../../support/fixed-clock.ts';
import { type Harness, startHarness } from '../../support/harness.ts';
import { until } from '../../support/until.ts';

describe('a batch', () => {
  const due = (gas: bigint, tries = 0) => ({ gas, tries });

  it('is what fits into a transaction, in the order in which it became due', () => {
    const many = Array.from({ length: 100 }, () => due(292_000n));
    expect(firstBatch(many)).toHaveLength(56);
    expect(firstBatch([due(16_000_000n), due(500_000n), due(1n)])).toHaveLength(1);
    expect(firstBatch([])).toEqual([]);
  });

  it('leaves out what the chain undid once: that goes alone', () => {
    expect(firstBatch([due(1n, 1), due(1n)])).toEqual([due(1n, 1)]);
    expect(firstBatch([due(1n), due(2n), due(3n, 1), due(4n)])).toEqual([due(1n), due(2n)]);
  });
});

describe('writes that become due while a transaction is made', () => {
  let h: Harness;
  beforeAll(async () => {
    h = await startHarness({ registers: true });
    const isAnnounced = () => askDatabase(h.databaseUrl, `select from registry_write where state = 'done'`);
    await until(async () => (await isAnnounced()).length > 0);
    await h.ctx.registryWriter.stop();
  });
  afterAll(() => h.stop());

  it('a writer is stopped when its run has ended', async () => {
    const { ctx } = h;
    const head = Promise.withResolvers<bigint>();
    const began = Promise.withResolvers<void>();
    const headBlock = () => {
      began.resolve();
      return head.promise;
    };
    const writer = createRegistryWriter({ ...ctx, usdc: { ...ctx.usdc, headBlock } }, async () => undefined);
    const run = writer.write();
    await began.promise;
    let isStopped = false;
    const stop = writer.stop().then(() => {
      isStopped = true;
    });
    const now = await ctx.usdc.headBlock();
    expect(isStopped).toBe(false);
    head.resolve(now);
    await Promise.all([run, stop]);
  });

  it('waits for the next, as the chain was not asked whether it can carry several', async () => {
    const { ctx } = h;
    const record = (subjectId: string) =>
      ctx.db.transaction((tx) =>
        queueWrite(ctx, tx, { kind: 'register', subjectId, ...registerCall(ctx, subjectId) }, ctx.clock.now()),
      );
    const current = async () => {
      await record('agt_second');
      return ctx.fees.current();
    };
    await record('agt_first');
    const lease = { holder: 'test', leaseMs: 10_000 };
    const writeAhead = createWriteAhead(
      { ...ctx, fees: { ...ctx.fees, current } },
      ctx.registrar?.address ?? '',
      lease,
    );
    expect(await writeAhead()).toMatchObject({ isEmpty: false });
    const rows = await askDatabase(
      h.databaseUrl,
      `select subject_id, state from registry_write where subject_id <> '' order by subject_id`,
    );
    expect(rows).toEqual([
      { subject_id: 'agt_first', state: 'sent' },
      { subject_id: 'agt_second', state: 'due' },
    ]);
  });

  it('an outcome that is read late does not take back a write that another process has sent again since', async () => {
    const { ctx } = h;
    const [before] = await askDatabase(
      h.databaseUrl,
      `select transaction_hash as hash from registry_write where subject_id = 'agt_first'`,
    );
    const mined = {
      hash: before?.hash,
      hasSucceeded: false,
      logs: [],
      blockNumber: 1n,
      blockHash: `0x${'1'.repeat(64)}`,
    };
    const findMined = async () => {
      await ctx.db.query(
        '',
        `update registry_write set transaction_hash = '0xagain', tries = 1 where subject_id = 'agt_first'`,
      );
      return mined as never;
    };
    const late = { ...ctx, usdc: { ...ctx.usdc, findMined } };
    await recordWrites(late, ctx.registrar?.address ?? '', async () => undefined);
    const rows = await askDatabase(
      h.databaseUrl,
      `select state, transaction_hash as hash, tries from registry_write where subject_id = 'agt_first'`,
    );
    expect(rows).toEqual([{ state: 'sent', hash: '0xagain', tries: 1 }]);
  });

  it('feedback comes after all others, and one that its registry refuses by itself is not sent again', async () => {
    const { ctx } = h;
    const registrar = ctx.registrar?.address ?? '';
    const target = ctx.registry.address;
    const early = new Date(0);
    const due = async (text: string) => {
      const requestId = `req_${text}`;
      await insertFeedbackWrite(ctx.db, { chainId: ctx.chain.chainId, requestId, target, data: '0x' }, early);
      return `feedback_${requestId}`;
    };
    const feedback = await Promise.all(['a', 'b'].map(due));
    const last = await due('c');
    const [before] = await ctx.db.transaction((tx) => lockDueWrites(tx, ctx.chain.chainId, 1));
    expect(before?.kind).toBe('register');
    const carry = (ids: readonly string[], hash: string) => ctx.db.transaction((tx) => markSent(tx, ids, hash));
    await carry([...feedback, before?.id as string], '0xbatch');
    await carry([last], '0xalone');
    // Nobody sent these two: a writer at work would give them up.
    await ctx.registryWriter.write();
    const mined = { hash: '0xmined', logs: [] as unknown[], blockNumber: 1n, blockHash: `0x${'1'.repeat(64)}` };
    const record = (outcome: object) => {
      const findMined = async () => ({ ...mined, ...outcome }) as never;
      return recordWrites({ ...ctx, usdc: { ...ctx.usdc, findMined } }, registrar, async () => undefined);
    };
    const states = async () =>
      (
        await askDatabase<{ state: string }>(
          h.databaseUrl,
          'select state from registry_write where id = any($1) order by array_position($1, id)',
          [[...feedback, before?.id, last]],
        )
      ).map(({ state }) => state);
    // With a transaction that reverts, it is unknown which of several calls is to blame.
    await record({ hasSucceeded: false });
    expect(await states()).toEqual(['due', 'due', 'due', 'failed']);
    await carry([...feedback, before?.id as string], '0xagain');
    const refused = (place: number) => ({
      address: registrar,
      topics: encodeEventTopics({ abi: batchExecutorAbi, eventName: 'CallFailed', args: { place: BigInt(place) } }),
      data: encodeAbiParameters([{ type: 'bytes' }], ['0x08c379a0']),
    });
    await record({ hasSucceeded: true, logs: [refused(0), refused(2)] });
    expect(await states()).toEqual(['failed', 'done', 'due', 'failed']);
  });

  it('the node’s own entry, which the registry reverts, is written again a day later, and at once for another address', async () => {
    const { ctx } = h;
    const newOrigin = () => `https://${newId('req').slice(4).toLowerCase()}.example`;
    const [first, second] = [newOrigin(), newOrigin()];
    const announce = (baseUrl: string, clock = ctx.clock) => announceNode({ ...ctx, baseUrl, clock });
    const fail = () =>
      ctx.db.query(
        '',
        `update registry_write set state = 'failed', tries = 3, ended_at = now() where kind = 'uri' and state = 'due'`,
      );
    const written = async () => {
      const rows = await askDatabase<{ uri: string }>(
        h.databaseUrl,
        `select uri from registry_write where kind = 'uri' and subject_id = '' order by created_at, id`,
      );
      return rows.map(({ uri }) => new URL(uri).origin).filter((origin) => [first, second].includes(origin));
    };
    await fail();
    await announce(first);
    await fail();
    await announce(first);
    expect(await written()).toEqual([first]);
    await announce(second);
    await fail();
    expect(await written()).toEqual([first, second]);
    await announce(first, fixedClock(new Date(Date.now() + 90_000_000)));
    await fail();
    expect(await written()).toEqual([first, second, first]);
  });
});
