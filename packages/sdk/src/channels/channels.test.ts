import { describe, expect, it } from 'vitest';
import { type Paid, prefix } from '../../test/support/channel-node.ts';
import { call, highest, startWorld } from '../../test/support/channel-world.ts';
import { startFakeNode, success } from '../../test/support/fake-node.ts';
import { createClient } from '../client.ts';
import { memoryStorage } from './channel-storage.ts';

describe('a payer with channels', () => {
  it('makes one deposit, then pays each call with a voucher, and gets the rest back to the unit', async () => {
    await using world = await startWorld();
    const { payer, invoke } = world.clientOf({ deposit: '0.05' });
    for (let calls = 0; calls < 12; calls += 1) expect(await invoke()).toEqual({ paid: true });
    expect(world.only()).toMatchObject({ balance: 50_000n, charged: 12_000n, signed: 12_000n });
    expect(world.deposits()).toBe(1);
    const [closed, ...others] = await payer.close();
    expect(others).toEqual([]);
    expect(closed).toMatchObject({ charged: '0.012', refunded: '0.038', transaction: expect.stringMatching(/^0x/) });
    expect(world.only().balance).toBe(12_000n);
    expect(await payer.close()).toEqual([]);
  });

  it('asks for its refund again while a claim or a call keeps the channel busy', async () => {
    let asked = 0;
    await using world = await startWorld({
      before: ({ payload }, _count, node) =>
        payload.type === 'refund' && ++asked < 3 ? node.refuse(`${prefix}channel_busy`) : null,
    });
    const { payer, invoke } = world.clientOf({ deposit: '0.05' });
    await invoke();
    expect(await payer.close()).toMatchObject([{ refunded: '0.049' }]);
    expect(asked).toBe(3);
  });

  /** Closes a payer whose answer to the refund is lost, as when its process dies before it. */
  async function closeUnanswered(clientOf: Awaited<ReturnType<typeof startWorld>>['clientOf']) {
    const storage = memoryStorage();
    const losing: typeof fetch = async (input, init) => {
      const response = await fetch(input, init);
      return response.headers.has('payment-response') ? new Response(null, { status: 500 }) : response;
    };
    const dying = clientOf({ deposit: '0.05', storage, fetch: losing });
    await dying.invoke();
    await expect(dying.payer.close()).rejects.toThrow('the answer was 500');
    return clientOf({ deposit: '0.05', storage });
  }

  it('learns what came back when it is closed again after the answer was lost', async () => {
    await using world = await startWorld();
    const { payer, invoke } = await closeUnanswered(world.clientOf);
    expect(world.only().balance).toBe(1_000n);
    expect(await payer.close()).toMatchObject([{ refunded: '0.049', transaction: expect.stringMatching(/^0x/) }]);
    expect(await payer.close()).toEqual([]);
    await invoke();
    expect(await payer.close()).toMatchObject([{ refunded: '0.049' }]);
    expect([world.only().balance, world.deposits()]).toEqual([2_000n, 2]);
  });

  it('deposits for the next call after a refund whose answer was lost, and gets that back too', async () => {
    await using world = await startWorld();
    const { payer, invoke } = await closeUnanswered(world.clientOf);
    expect(await invoke()).toEqual({ paid: true });
    expect(world.deposits()).toBe(2);
    expect(await payer.close()).toMatchObject([{ refunded: '0.049' }]);
    expect(world.only()).toMatchObject({ balance: 2_000n, charged: 2_000n });
  });

  it('deposits again when the channel is used up, also after a refund', async () => {
    await using world = await startWorld();
    const { payer, invoke } = world.clientOf({ deposit: '0.01' });
    for (let calls = 0; calls < 11; calls += 1) await invoke();
    expect([world.deposits(), world.only().balance]).toEqual([2, 20_000n]);
    await payer.close();
    await invoke();
    expect([world.deposits(), world.only().balance, world.only().charged]).toEqual([3, 21_000n, 12_000n]);
  });

  it('pays parallel calls of one channel once each', async () => {
    await using world = await startWorld();
    const { invoke } = world.clientOf();
    expect(await Promise.all(Array.from({ length: 16 }, invoke))).toHaveLength(16);
    expect(world.only().charged).toBe(16_000n);
    expect(world.deposits()).toBe(2);
  });

  it('pays a node that it reaches at two addresses from one channel', async () => {
    await using world = await startWorld();
    const { payer, invoke } = world.clientOf({ deposit: '0.02' });
    const baseUrl = world.server.baseUrl.replace('127.0.0.1', 'localhost');
    const other = createClient({ baseUrl, payer, maxRetries: 0 });
    for (let calls = 0; calls < 2; calls += 1) {
      await invoke();
      await other.invokeAgent(call);
    }
    expect([world.deposits(), world.only().charged]).toEqual([1, 4_000n]);
    expect(await payer.close()).toHaveLength(1);
  });

  it('goes on from its own books when a claim has just made the refused voucher public', async () => {
    let isClaimed = false;
    await using world = await startWorld({
      before: ({ payload, books }, _count, node) => {
        if (payload.type !== 'voucher' || isClaimed || books.charged < 3_000n) return null;
        isClaimed = true;
        return node.refuse(`${prefix}cumulative_amount_mismatch`);
      },
    });
    const { invoke } = world.clientOf({ deposit: '0.05' });
    for (let calls = 0; calls < 5; calls += 1) await invoke();
    expect([isClaimed, world.only().charged, world.only().signed]).toEqual([true, 5_000n, 5_000n]);
  });

  it('pays one call after the other where the receiver is busy with one', async () => {
    let running = 0;
    await using world = await startWorld({
      before: ({ payload }, _count, node) =>
        payload.type === 'voucher' && running > 0 ? node.refuse(`${prefix}channel_busy`) : null,
      outcome: () => {
        running += 1;
        setTimeout(() => (running -= 1), 20);
        return {};
      },
    });
    const { invoke } = world.clientOf({ deposit: '0.02' });
    expect(await Promise.all(Array.from({ length: 5 }, invoke))).toHaveLength(5);
    expect(world.only().charged).toBe(5_000n);
  });

  it('pays nothing for a call that failed', async () => {
    const failed = success({ failed: true });
    await using world = await startWorld({
      outcome: (_paid, count) => (count === 3 ? { cost: 0n, reply: failed } : {}),
    });
    const { invoke } = world.clientOf();
    await invoke();
    expect(await invoke()).toEqual({ failed: true });
    await invoke();
    expect(world.only()).toMatchObject({ charged: 2_000n, signed: 2_000n });
  });

  it('counts a call as spent when its answer was lost, and goes on from what the node counts', async () => {
    let cut = true;
    await using world = await startWorld();
    const { payer, invoke } = world.clientOf({ deposit: '0.02' });
    const losing: typeof fetch = async (input, init) => {
      const response = await fetch(input, init);
      if (!response.headers.has('payment-response') || !cut) return response;
      cut = false;
      throw new TypeError('fetch failed');
    };
    const client = createClient({ baseUrl: world.server.baseUrl, payer, fetch: losing });
    // The node of this test does not know requests again: it refuses what it has taken already.
    await expect(client.invokeAgent(call)).rejects.toMatchObject({ code: 'PAYMENT_REQUIRED' });
    const shown = world.node.payments.map(({ payload }) => payload.voucher.signature);
    expect(shown[1]).toBe(shown[2]);
    expect(highest(world)).toBe(1_000n);
    await invoke();
    await invoke();
    expect(world.only()).toMatchObject({ charged: 3_000n, signed: 3_000n, balance: 20_000n });
    expect(await payer.close()).toMatchObject([{ refunded: '0.017' }]);
  });

  it('knows after a crash of every voucher that may be out', async () => {
    await using world = await startWorld();
    const storage = memoryStorage();
    const before = world.clientOf({ storage, deposit: '0.02' });
    await before.invoke();
    let kept: Record<string, string> = {};
    const dying = world.clientOf({
      storage: {
        ...storage,
        set: (key, value) => {
          if (key in kept) throw new Error('the process is gone');
          kept = { [key]: value };
          return storage.set(key, value);
        },
      },
    });
    await dying.invoke();
    expect(world.only().charged).toBe(2_000n);
    await world.clientOf({ storage }).invoke();
    expect(world.only()).toMatchObject({ charged: 3_000n, signed: 3_000n });
    expect(world.deposits()).toBe(1);
  });

  it('pays by transfer when the node takes only larger deposits, or lets a withdrawal wait for longer, than is allowed', async () => {
    await using world = await startWorld({
      withExact: true,
      before: ({ payload }, _count, node) =>
        payload.deposit?.amount < 900_000 ? node.refuse(`${prefix}deposit_below_min_deposit`) : null,
    });
    expect(await world.clientOf().invoke()).toEqual({ paidExactly: true });
    await using wide = await startWorld({ withExact: true, extra: { withdrawDelay: 8 * 86_400 } });
    expect(await wide.clientOf().invoke()).toEqual({ paidExactly: true });
    await using dear = await startWorld({ withExact: true });
    expect(await dear.clientOf({ deposit: '0.0009' }).invoke()).toEqual({ paidExactly: true });
    expect([dear.deposits(), wide.node.payments.length]).toEqual([0, 0]);
  });

  it('refuses a price above the limit, and signs no deposit above the limit', async () => {
    await using world = await startWorld({ extra: { minDeposit: '60000' } });
    await expect(world.clientOf({}, '0.0009').invoke()).rejects.toMatchObject({ reason: 'unknown_asset' });
    await expect(world.clientOf({ deposit: '0.0009' }).invoke()).rejects.toMatchObject({ reason: 'deposit_above_cap' });
    expect(world.deposits()).toBe(0);
    await world.clientOf({ deposit: '0.05' }).invoke();
    expect(world.only().balance).toBe(50_000n);
  });
});

describe('a payer with lost books', () => {
  it('adopts the sum of a corrective 402 if its own signature proves it', async () => {
    await using world = await startWorld();
    const before = world.clientOf({ deposit: '0.02' });
    for (let calls = 0; calls < 3; calls += 1) await before.invoke();
    const after = world.clientOf({ deposit: '0.02' });
    await after.invoke();
    expect([world.deposits(), world.only().charged]).toEqual([1, 4_000n]);
    expect(await after.payer.close()).toMatchObject([{ refunded: '0.016' }]);
  });

  it('opens another channel when the node discloses nothing of the old one', async () => {
    await using world = await startWorld();
    await world.clientOf().invoke();
    const [first] = world.node.channels.values();
    if (first) Object.assign(first, { published: first.charged });
    await world.clientOf().invoke();
    expect(world.node.channels.size).toBe(2);
  });

  it('opens another channel when the node refuses vouchers of the old one', async () => {
    const isClosed = ({ payload }: Paid) => /^0x0+$/.test(payload.channelConfig.salt);
    await using world = await startWorld({
      before: (paid, _count, node) => (isClosed(paid) ? node.refuse(`${prefix}missing_channel`) : null),
    });
    const { invoke } = world.clientOf({ deposit: '0.02' });
    for (let calls = 0; calls < 3; calls += 1) await invoke();
    expect([world.deposits(), world.only().charged]).toEqual([1, 3_000n]);
  });

  it('reads the chain when it is given an RPC', async () => {
    await using world = await startWorld();
    await world.clientOf().invoke();
    const word = (value: bigint) => value.toString(16).padStart(64, '0');
    const books = world.only();
    books.published = books.charged;
    await using rpc = await startFakeNode(({ body }) => ({
      status: 200,
      body: {
        result:
          JSON.parse(body).method === 'eth_chainId' ? '0x14a34' : `0x${word(books.balance)}${word(books.charged)}`,
      },
    }));
    await world.clientOf({ rpcUrl: rpc.baseUrl }).invoke();
    expect([world.deposits(), world.only().charged]).toEqual([1, 2_000n]);
  });

  it('says of its channels whether the chain was read: an RPC that refuses leaves what the books have', async () => {
    await using world = await startWorld();
    let isRefusing = true;
    const word = (value: bigint) => value.toString(16).padStart(64, '0');
    await using rpc = await startFakeNode(({ body }) => {
      if (isRefusing) return { status: 429, body: { error: 'too many requests' } };
      const isChainId = JSON.parse(body).method === 'eth_chainId';
      return { status: 200, body: { result: isChainId ? '0x14a34' : `0x${word(70_000n)}${word(500n)}` } };
    });
    const storage = memoryStorage();
    await world.clientOf({ deposit: '0.05', storage }).invoke();
    const { payer } = world.clientOf({ storage, rpcUrl: rpc.baseUrl });
    const booked = { isOnChain: false, balance: '0.05', claimable: '0.001' };
    expect(await payer.channels()).toMatchObject([booked]);
    expect(await world.clientOf({ storage }).payer.channels()).toMatchObject([booked]);
    isRefusing = false;
    expect(await payer.channels()).toMatchObject([{ isOnChain: true, balance: '0.07', claimable: '0.0005' }]);
  });

  it('goes on from its storage without asking, also from books that an older version kept', async () => {
    await using world = await startWorld();
    const storage = memoryStorage();
    for (let starts = 0; starts < 3; starts += 1) {
      await world.clientOf({ storage, deposit: '0.02' }).invoke();
      const [key = ''] = await storage.keys();
      const { signedMicro, depositEndsS, refund, ...older } = JSON.parse((await storage.get(key)) ?? '');
      expect([signedMicro, depositEndsS > 0, refund]).toEqual([`${starts + 1}000`, starts === 0, null]);
      await storage.set(key, JSON.stringify(older));
    }
    expect(await world.clientOf({ storage }).payer.channels()).toMatchObject([
      { charged: '0.003', claimable: '0.003' },
    ]);
    expect(world.only().charged).toBe(3_000n);
    expect(world.node.payments).toHaveLength(4);
  });
});
