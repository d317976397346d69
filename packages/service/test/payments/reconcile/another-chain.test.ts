import { afterAll, beforeAll, expect, it } from 'vitest';
import { followChannels } from '../../../src/payments/x402/channels/chain/follow-channels.ts';
import { askDatabase, contradictions } from '../../support/books.ts';
import { channelOf, insertChannel } from '../../support/channels.ts';
import { type Engine, startEngine } from '../../support/engine.ts';

let engine: Engine;
beforeAll(async () => {
  engine = await startEngine();
});
afterAll(() => engine.stop());

const serveAnotherChain = (isOther: boolean) => {
  const other = (hash: string) => `${hash.slice(0, -2)}${hash.at(-2) === '0' ? '1' : '0'}"`;
  engine.proxy.rule('eth_chainId', isOther ? ({ answer }) => answer('0x1') : null);
  engine.proxy.rule(
    'eth_getBlockByNumber',
    isOther ? async ({ forward }) => (await forward()).replaceAll(/"0x[0-9a-f]{64}"/g, other) : null,
  );
  engine.proxy.rule('eth_getTransactionReceipt', isOther ? ({ answer }) => answer(null) : null);
};

/** What a reorg changes. */
const recorded = () =>
  askDatabase(
    engine.databaseUrl,
    `select (select json_agg(t order by t.hash) from chain_transaction t) as transactions,
            (select json_agg(p order by p.id) from chain_payment p) as payments,
            (select json_agg(c order by c.id) from channel c) as channels,
            (select json_agg(c order by c.block_number) from channel_point c) as points`,
  );

it('an RPC node that serves another chain for a while takes no payment and no channel back', async () => {
  const { ctx } = engine;
  const [payment] = await engine.claimMany(1);
  if (!payment) throw new Error('a payment was claimed');
  expect(await ctx.settler.settle(payment)).toMatchObject({ state: 'settled' });
  await insertChannel(ctx.db, ctx.chain.chainId, channelOf(ctx.chain, await engine.newPayer()));
  await followChannels(ctx);
  const before = await recorded();
  await engine.mine(1);
  serveAnotherChain(true);
  await expect(ctx.reorgWatch.look()).rejects.toThrow('serves chain 1 now');
  await expect(followChannels(ctx)).rejects.toThrow('serves chain 1 now');
  expect(await recorded()).toEqual(before);
  serveAnotherChain(false);
  await ctx.reorgWatch.look();
  await followChannels(ctx);
  expect(await engine.stateOf(payment)).toBe('settled');
  expect(await contradictions(engine.databaseUrl)).toEqual([]);
});
