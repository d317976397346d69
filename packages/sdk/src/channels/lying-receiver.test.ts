import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { prefix } from '../../test/support/channel-node.ts';
import { highest, startWorld } from '../../test/support/channel-world.ts';
import { failure, startFakeNode, success } from '../../test/support/fake-node.ts';
import { memoryStorage } from './channel-storage.ts';

describe('a receiver that lies', () => {
  it('gets no signature above what the calls may have cost, whatever sum it names', async () => {
    await using world = await startWorld({
      before: ({ books }, count, node) =>
        count > 4
          ? node.refuse(`${prefix}cumulative_amount_mismatch`, books, { charged: 5_000n, signed: 5_000n })
          : null,
    });
    const { invoke } = world.clientOf({ deposit: '0.02' });
    for (let calls = 0; calls < 3; calls += 1) await invoke();
    await expect(invoke()).rejects.toThrow();
    await expect(invoke()).rejects.toThrow();
    expect(highest(world)).toBe(4_000n);
  });

  it('cannot use a voucher of released calls to have more signed than it was told', async () => {
    let told = false;
    await using world = await startWorld({
      outcome: () => ({ cost: 0n, reply: success({ failed: true }) }),
      before: ({ books, payload }, _count, node) =>
        told && payload.type === 'voucher'
          ? node.refuse(`${prefix}cumulative_amount_mismatch`, books, { charged: books.signed })
          : null,
    });
    const { invoke } = world.clientOf({ deposit: '0.02' });
    for (let calls = 0; calls < 4; calls += 1) expect(await invoke()).toEqual({ failed: true });
    told = true;
    await expect(invoke()).rejects.toMatchObject({ reason: 'unexplained_sum' });
    expect(highest(world)).toBe(1_000n);
  });

  it('cannot charge more than the price', async () => {
    await using world = await startWorld({ outcome: () => ({ cost: 7_000n }) });
    const { payer, invoke } = world.clientOf({ deposit: '0.05' });
    await invoke();
    await expect(invoke()).rejects.toMatchObject({ code: 'PAYMENT_REQUIRED' });
    expect(highest(world)).toBe(2_000n);
    await expect(payer.close()).rejects.toThrow('can be withdrawn without the receiver');
  });

  it.each(['the answer to a payment', 'a correction'])(
    'cannot put a balance into the books that no deposit explains, told in %s',
    async (where) => {
      await using world = await startWorld({
        before(paid, count, node) {
          if (count !== 3) return null;
          const books = { ...paid.books, balance: 10n ** 12n };
          if (where === 'a correction') return node.refuse(`${prefix}cumulative_amount_mismatch`, books);
          return { ...success({}), headers: node.accept({ ...paid, books }) };
        },
      });
      const { payer, invoke } = world.clientOf({ deposit: '0.02' });
      await invoke();
      await invoke();
      expect(await payer.channels()).toMatchObject([{ balance: '0.02' }]);
      expect(world.node.payments.length).toBeGreaterThan(2);
    },
  );

  it('is not believed with a signature that is not ours', async () => {
    await using world = await startWorld({
      before: (_paid, count, node) =>
        count === 1
          ? node.refuse(`${prefix}cumulative_amount_mismatch`, {
              balance: 9_000_000n,
              charged: 5_000_000n,
              reserved: 0n,
              signed: 6_000_000n,
              signature: `0x${'1b'.repeat(65)}`,
              published: 0n,
            })
          : null,
    });
    await world.clientOf().invoke();
    expect(highest(world)).toBe(1_000n);
  });

  it('gets one deposit at a time: a signed one is shown again rather than another', async () => {
    await using world = await startWorld({
      before: ({ payload }, _count, node) =>
        payload.type === 'deposit' ? node.refuse(`${prefix}deposit_transaction_failed`) : null,
    });
    const { invoke } = world.clientOf({ deposit: '0.02' });
    for (let calls = 0; calls < 4; calls += 1) await expect(invoke()).rejects.toThrow();
    expect(world.node.payments.filter(({ payload }) => payload.deposit)).toHaveLength(4);
    expect(world.deposits()).toBe(1);
  });

  it.each([-9, -5, 0, 59])('gets no other deposit, nor channel, %i s from the end of the first', async (afterEndS) => {
    await using world = await startWorld({
      before: ({ payload }, _count, node) =>
        payload.type === 'deposit' ? node.refuse(`${prefix}deposit_transaction_failed`) : null,
    });
    const { invoke } = world.clientOf({ deposit: '0.02' });
    await expect(invoke()).rejects.toThrow();
    const { deposit } = world.node.payments.at(-1)?.payload ?? {};
    const endS = Number(deposit?.authorization.erc3009Authorization.validBefore);
    vi.useFakeTimers({ toFake: ['Date'] });
    onTestFinished(() => void vi.useRealTimers());
    vi.setSystemTime((endS + afterEndS) * 1000);
    await expect(invoke()).rejects.toMatchObject({ reason: 'deposit_unsettled' });
    const { payTo } = world.node;
    world.node.payTo = '0x1111111111111111111111111111111111111111';
    await expect(invoke()).rejects.toMatchObject({ reason: 'other_channel_open' });
    expect(world.deposits()).toBe(1);
    world.node.payTo = payTo;
    vi.setSystemTime((endS + 61) * 1000);
    await expect(invoke()).rejects.toMatchObject({ code: 'PAYMENT_REQUIRED' });
    expect(world.deposits()).toBe(2);
  });

  it('gets no deposit after deposit by denying the balance', async () => {
    await using world = await startWorld({
      before: ({ payload }, _count, node) =>
        payload.type === 'voucher' ? node.refuse(`${prefix}cumulative_exceeds_balance`) : null,
    });
    const { invoke } = world.clientOf({ deposit: '0.02' });
    await invoke();
    for (let calls = 0; calls < 3; calls += 1) await expect(invoke()).rejects.toThrow();
    expect(world.deposits()).toBe(1);
  });

  it('gets no other deposit by keeping the first from the chain that the payer asks, while it can be taken', async () => {
    await using world = await startWorld({
      before: ({ payload }, _count, node) =>
        payload.type === 'voucher' ? node.refuse(`${prefix}cumulative_exceeds_balance`) : null,
    });
    await using rpc = await startFakeNode(({ body }) => ({
      status: 200,
      body: { result: JSON.parse(body).method === 'eth_chainId' ? '0x14a34' : `0x${'0'.repeat(128)}` },
    }));
    const { invoke } = world.clientOf({ deposit: '0.02', rpcUrl: rpc.baseUrl });
    await invoke();
    for (let calls = 0; calls < 3; calls += 1)
      await expect(invoke()).rejects.toMatchObject({ reason: 'deposit_unsettled' });
    expect(world.deposits()).toBe(1);
    vi.useFakeTimers({ toFake: ['Date'] });
    onTestFinished(() => void vi.useRealTimers());
    const { deposit } = world.node.payments.find(({ payload }) => payload.deposit)?.payload ?? {};
    vi.setSystemTime((Number(deposit?.authorization.erc3009Authorization.validBefore) + 60) * 1000);
    expect(await invoke()).toEqual({ paid: true });
    expect(world.deposits()).toBe(2);
  });

  it('gets no other deposit either after a refund that it does not answer', async () => {
    await using world = await startWorld({
      before({ payload }, _count, node) {
        if (payload.type === 'refund') return failure(500, 'INTERNAL_ERROR');
        return payload.type === 'voucher' ? node.refuse(`${prefix}cumulative_exceeds_balance`) : null;
      },
    });
    await using rpc = await startFakeNode(({ body }) => ({
      status: 200,
      body: { result: JSON.parse(body).method === 'eth_chainId' ? '0x14a34' : `0x${'0'.repeat(128)}` },
    }));
    const { payer, invoke } = world.clientOf({ deposit: '0.02', rpcUrl: rpc.baseUrl });
    await invoke();
    await expect(payer.close()).rejects.toThrow('the answer was 500');
    for (let calls = 0; calls < 2; calls += 1)
      await expect(invoke()).rejects.toMatchObject({ reason: 'deposit_unsettled' });
    expect(world.deposits()).toBe(1);
  });

  it('gets no second channel by naming another receiver while the first holds money', async () => {
    await using world = await startWorld();
    const { invoke } = world.clientOf();
    await invoke();
    world.node.payTo = '0x1111111111111111111111111111111111111111';
    await expect(invoke()).rejects.toMatchObject({ reason: 'other_channel_open' });
    expect(world.node.channels.size).toBe(1);
  });

  it('differs from an unreadable storage, for which nothing is signed', async () => {
    await using world = await startWorld();
    const storage = memoryStorage();
    await world.clientOf({ storage }).invoke();
    const [key = ''] = await storage.keys();
    await storage.set(key, '{"channelId":"');
    const count = world.node.payments.length;
    await expect(world.clientOf({ storage }).invoke()).rejects.toThrow(SyntaxError);
    expect(world.node.payments).toHaveLength(count);
  });
});
