import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createIncomingTransfers } from '../../../../src/chain/incoming-transfer-client.ts';
import { createWalletBalances } from '../../../../src/chain/wallet-balance-client.ts';
import { postTransfers, VOUCHERS } from '../../../../src/payments/ledger/ledger-store.ts';
import { rereadChannels } from '../../../../src/payments/schemes/batch-settlement/chain/reread-channels.ts';
import { createClaimer } from '../../../../src/payments/schemes/batch-settlement/claims/claimer.ts';
import { createChargeRemoval } from '../../../../src/payments/schemes/batch-settlement/claims/forget-charges.ts';
import { readReserves } from '../../../../src/payments/statements/read-reserves.ts';
import { askDatabase } from '../../../support/books.ts';
import { type BookedTestChannel, charge, openChannel } from '../../../support/channel-books.ts';
import { type Engine, type EngineContext, startEngine } from '../../../support/engine.ts';

/** More than are claimed together. */
const MANY = 501;
const DUST = 3000;

let engine: Engine;
beforeAll(async () => {
  engine = await startEngine({ senders: 1, claims: { thresholdMicro: 1000n, minMicro: 10n, intervalMs: 3_600_000 } });
  await engine.mine(20);
});
afterEach(async () => {
  const copies = [`0x${'0'.repeat(50)}1`];
  await askDatabase(engine.databaseUrl, 'delete from channel_charge where channel_id < $1', copies);
  await askDatabase(engine.databaseUrl, 'delete from channel where id < $1', copies);
});
afterAll(() => engine.stop());

/** Copies a channel, its charges left out, so often that its like come before all others. */
const copy = ({ id }: BookedTestChannel, set: string, count = MANY) =>
  askDatabase(
    engine.databaseUrl,
    `insert into channel (id, chain_id, payer, payer_authorizer, receiver, receiver_authorizer, token, withdraw_delay_s, salt,
       balance_micro, charged_micro, signed_micro, signature, withdraw_requested_at, created_at, changed_at)
     select '0x' || lpad(to_hex(n), 64, '0'), chain_id, payer, payer_authorizer, receiver, receiver_authorizer, token, withdraw_delay_s,
            salt, balance_micro, ${set}, now(), now()
       from channel, generate_series(1, ${count}) n where id = $1`,
    [id],
  );

it.each([
  ['owe too little, and whose payers withdraw', `9, 9, signature, now()`],
  ['owe much, by a voucher for more than that', `5000, 9000, signature, null`],
])('channels that %s keep no other from being claimed', async (_, set) => {
  const channel = await openChannel(engine, 10_000n);
  await charge(engine, channel, 1500n);
  await charge(engine, channel, 700n);
  await copy(channel, set);
  await engine.ctx.channelClaims.claim('due');
  const [onChain] = await engine.ctx.settlementContract.readChannels([channel.id], null);
  expect(onChain).toMatchObject({ claimedMicro: 1500n });
});

describe('channels that owe less than a claim is worth, and whose payers are gone', () => {
  let real: BookedTestChannel;
  beforeEach(async () => {
    real = await openChannel(engine, 10_000n);
    await charge(engine, real, 1500n);
    await charge(engine, real, 700n);
    await copy(real, '9, 9, signature, null', DUST);
    await askDatabase(
      engine.databaseUrl,
      `insert into channel_charge (request_id, channel_id, amount_micro, max_micro, signature, charged_micro, created_at, ended_at, fingerprint)
       select 'dust' || id, id, 9, 9, signature, 9, now() - interval '60 days', now() - interval '60 days', '' from channel where charged_micro = 9`,
    );
  });

  /** The names of the statements that a piece of work makes. */
  const statementsOf = async (work: (ctx: EngineContext) => Promise<unknown>): Promise<string[]> => {
    const names: string[] = [];
    const query: typeof engine.ctx.db.query = (name, ...rest) => {
      names.push(name);
      return engine.ctx.db.query(name, ...rest);
    };
    await work({ ...engine.ctx, db: { ...engine.ctx.db, query } });
    return names;
  };

  it('are passed over by one statement for each claim', async () => {
    const names = await statementsOf((ctx) => createClaimer(ctx).claim('due'));
    expect(names.filter((name) => name === 'list-unclaimed-channels')).toHaveLength(2);
    const [onChain] = await engine.ctx.settlementContract.readChannels([real.id], null);
    expect(onChain).toMatchObject({ claimedMicro: 1500n });
  });

  it('keep no old call from being removed, however many were made before it, and are looked at once an hour', async () => {
    await engine.ctx.channelClaims.claim('due');
    const old = `update channel_charge set created_at = now() - interval '50 days', ended_at = now() - interval '50 days' where channel_id = $1`;
    await askDatabase(engine.databaseUrl, old, [real.id]);
    const retention = { resultDays: 30, chunkDays: 1, eventDays: 1 };
    let aheadMs = 0;
    const clock = { now: () => new Date(Date.now() + aheadMs) };
    let remove = async () => {};
    const names = await statementsOf(async (ctx) => {
      remove = createChargeRemoval({ ...ctx, clock, retention });
      await remove();
    });
    const steps = () => names.filter((name) => name === 'delete-old-channel-charges').length;
    const ofOnePass = steps();
    expect(ofOnePass).toBeLessThanOrEqual(DUST / 1000 + 2);
    aheadMs = 59 * 60_000;
    await remove();
    expect(steps()).toBe(ofOnePass);
    aheadMs = 61 * 60_000;
    await remove();
    expect(steps()).toBeGreaterThan(ofOnePass);
    const kept = await askDatabase(
      engine.databaseUrl,
      `select max_micro::int as max, count(*)::int as calls from channel_charge where channel_id = $1 or max_micro = 9 group by 1`,
      [real.id],
    );
    expect(kept.toSorted((a, b) => Number(a.max) - Number(b.max))).toEqual([
      { max: 9, calls: DUST },
      { max: 2200, calls: 1 },
    ]);
  });

  it('are read again a day later, the longest unread first, so that the reserves show an event that was missed', async () => {
    const { ctx } = engine;
    const point = [ctx.chain.chainId, 50_000];
    await askDatabase(engine.databaseUrl, `insert into channel_point values ($1, $2, '0x')`, point);
    await askDatabase(engine.databaseUrl, 'update channel set read_block = 2 where charged_micro = 9');
    await askDatabase(engine.databaseUrl, `update channel set read_block = 1 where id = '0x' || lpad('bb8', 64, '0')`);
    await rereadChannels(ctx, ctx.channelClaimSettings.minMicro);
    await askDatabase(engine.databaseUrl, 'delete from channel_point where chain_id = $1 and block_number = $2', point);
    const wrong = await askDatabase<{ id: string }>(
      engine.databaseUrl,
      'select id from channel where charged_micro = 9 and balance_micro = 0 and read_block = $1 order by id',
      [String(await ctx.settlementContract.headBlock())],
    );
    expect(wrong).toHaveLength(150);
    expect(wrong.at(-1)?.id).toMatch(/0bb8$/);
  });

  it('are in the reserves without a question to the chain for each, until their payers may have withdrawn', async () => {
    const { ctx } = engine;
    const credit = `earned:${real.id}`;
    const owed = { id: `dust:${real.id}`, debit: VOUCHERS, credit, amountMicro: 9n * BigInt(DUST) };
    await postTransfers(ctx.db, [{ ...owed, kind: 'voucher', subjectId: 'dust' }], ctx.clock.now());
    await engine.mine(150);
    const block = await ctx.settlementContract.headBlock();
    const point = [ctx.chain.chainId, String(block), await ctx.settlementContract.hashAt(block)];
    await askDatabase(engine.databaseUrl, 'insert into channel_point values ($1, $2, $3)', point);
    await askDatabase(engine.databaseUrl, 'update channel set read_block = 1 where charged_micro = 9');
    const asked: number[] = [];
    const settlementContract: typeof ctx.settlementContract = {
      ...ctx.settlementContract,
      readReceiver: (ids, at) => {
        asked.push(ids.length);
        return ctx.settlementContract.readReceiver(ids, at);
      },
    };
    const options = { rpcUrl: engine.proxy.url, token: ctx.chain.token, wallet: ctx.chain.wallet };
    const walletBalances = createWalletBalances(options);
    const incomingTransfers = createIncomingTransfers(options);
    const read = () =>
      readReserves({ ...ctx, settlementContract, walletBalances, incomingTransfers, platformFeeBps: 0 });
    expect((await read()).reserves.status).toBe('balanced');
    expect(asked).toHaveLength(1);
    expect(asked[0]).toBeLessThan(10);
    const withdraw = `update channel set withdraw_requested_at = now() - withdraw_delay_s * interval '1 s' where charged_micro = 9`;
    await askDatabase(engine.databaseUrl, withdraw);
    expect((await read()).reserves.status).toBe('drift');
    expect(asked.at(-1)).toBeGreaterThanOrEqual(DUST);
  });
});
