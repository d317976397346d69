import { setTimeout as sleep } from 'node:timers/promises';
import { MULTICALL3_ADDRESS } from '@agent-network/chain/addresses';
import { callChain } from '@agent-network/chain/chain-rpc-client';
import { usdcAbi } from '@agent-network/chain/usdc-abi';
import { encodeFunctionData, type Hex, keccak256, pad, toHex, zeroAddress } from 'viem';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { issueApiKey } from '../../src/accounts/keys/manage-keys.ts';
import { openAccount } from '../../src/accounts/open-account.ts';
import { authorizationDigest } from '../../src/chain/keys/authorization.ts';
import { createLocalSigner } from '../../src/chain/keys/local-signer.ts';
import type { Signer } from '../../src/chain/keys/signer.ts';
import { listLost } from '../../src/payments/chain-outbox/chain-payment-list-store.ts';
import { readTransfers } from '../../src/payments/reconcile/read-transfers.ts';
import { recollectLost, reversePayment } from '../../src/payments/reconcile/recollect-lost.ts';
import { createReorgWatch } from '../../src/payments/reconcile/watch-reorgs.ts';
import { readReserves } from '../../src/payments/statements/read-reserves.ts';
import { contradictions, walletByBooks } from '../support/books.ts';
import { submitPayment, submitSigned, transferUsdc } from '../support/chain-actions.ts';
import { type Harness, newWallet, startHarness, type TestWallet } from '../support/harness.ts';
import { startTestAgent, type TestAgent } from '../support/test-agent.ts';
import { until } from '../support/until.ts';
import { payV2 } from '../support/x402-payer.ts';

/** Of the node's wallet before the one that it has. */
const formerKey = generatePrivateKey();
let h: Harness;
let agent: TestAgent;
beforeAll(async () => {
  h = await startHarness({ env: { FORMER_WALLETS: privateKeyToAccount(formerKey).address } });
  agent = await startTestAgent(h, { perRequest: '0.05' });
  // The node begins to read at the head of the chain when it first starts; nothing is missed from here on.
  await until(async () => (await points()) > 0 || null);
});
afterAll(async () => {
  await agent.die();
  await h.stop();
});
afterEach(async () => expect(await contradictions(h.databaseUrl)).toEqual([]));

const points = async () => (await h.ctx.db.query('count-points', 'select 1 from transfer_point')).length;

/** An account whose wallet's key the test holds. */
async function accountOf(wallet: TestWallet): Promise<{ key: string; accountId: string }> {
  const account = await openAccount(h.ctx, { address: wallet.address, plan: 'enterprise', isWalletProven: true });
  const scopes = ['invoke', 'payments:read', 'payments:write'] as const;
  const issued = await issueApiKey(h.ctx, { accountId: account.accountId, name: 'test', scopes, expiresAt: null });
  return { accountId: account.accountId, key: issued.apiKey };
}
const send = (wallet: TestWallet, micro: bigint) =>
  transferUsdc(h.rpcUrl, h, { from: wallet.address, to: h.ctx.chain.wallet, micro });
const available = async (key: string): Promise<string> =>
  (await h.request('GET', '/payments/balance', { key })).body.data.available;
const suspended = async (wallet: TestWallet): Promise<bigint> => {
  const id = `suspense:${wallet.address.toLowerCase()}`;
  const [row] = await h.ctx.db.query<{ posted: bigint }>(
    'suspended',
    'select posted_micro as posted from ledger_account where id = $1',
    [id],
  );
  return row?.posted ?? 0n;
};
/** Polls, with a reading of the chain before each look. */
const eventually = <T>(look: () => Promise<T>) =>
  expect.poll(async () => {
    await readTransfers(h.ctx);
    return look();
  });
const ledgerEqualsChain = async () =>
  expect(await h.usdcOf(h.ctx.chain.wallet)).toBe(await walletByBooks(h.databaseUrl));

async function claim(key: string, wallet: TestWallet, signer: TestWallet = wallet) {
  const asked = await h.request('POST', '/payments/claims', { key, body: { address: wallet.address } });
  const { challengeId, message } = asked.body.data;
  const signature = await signer.signMessage({ message });
  const taken = await h.request('POST', '/payments/claims', { key, body: { challengeId, signature } });
  return { asked: asked.body.data, taken };
}

it("USDC sent from an account's wallet is credited to its treasury once, with its transaction in the history", async () => {
  const wallet = await h.newWallet(10_000_000n);
  const { key } = await accountOf(wallet);
  const hash = await send(wallet, 1_250_001n);
  await eventually(() => available(key)).toBe('1.250001');
  await Promise.all([readTransfers(h.ctx), readTransfers(h.ctx)]);
  expect(await available(key)).toBe('1.250001');
  const { payments } = (await h.request('GET', '/payments/history', { key })).body.data;
  expect(payments).toMatchObject([
    { type: 'deposit', amount: '1.250001', status: 'confirmed', transactionHash: hash, requestId: null },
  ]);
  await ledgerEqualsChain();
});

it('USDC that waits for a wallet is in its balance as soon as the wallet has signed in, by key or by session, once', async () => {
  for (const way of ['/auth/sign-in', '/auth/session']) {
    const wallet = await h.newWallet(10_000_000n);
    await send(wallet, 2_000_000n);
    await eventually(() => suspended(wallet)).toBe(2_000_000n);
    const signIn = async (path: string) => {
      const asked = await h.request('POST', '/auth/challenge', { body: { address: wallet.address } });
      const { challengeId, message } = asked.body.data;
      const body = { challengeId, signature: await wallet.signMessage({ message }) };
      const named = path === '/auth/sign-in' ? { ...body, name: 'x' } : body;
      const answer = await h.request('POST', path, { body: named, headers: { origin: h.baseUrl } });
      expect(answer.status, JSON.stringify(answer.body)).toBe(200);
      return answer;
    };
    await signIn(way);
    const { apiKey: key } = (await signIn('/auth/sign-in')).body.data;
    expect(await available(key)).toBe('2.00');
    expect(await suspended(wallet)).toBe(0n);
  }
  await ledgerEqualsChain();
});

it('USDC from a wallet of nobody waits in suspense until its owner proves the wallet, and later transfers need no proof', async () => {
  const wallet = await h.newWallet(10_000_000n);
  await send(wallet, 2_000_000n);
  await eventually(() => suspended(wallet)).toBe(2_000_000n);
  const { key } = await accountOf(privateKeyToAccount(generatePrivateKey()));
  const { asked, taken } = await claim(key, wallet);
  expect(asked.amount).toBe('2.00');
  expect(taken.body.data).toMatchObject({ amount: '2.00', address: wallet.address.toLowerCase() });
  expect(await suspended(wallet)).toBe(0n);
  await send(wallet, 500_000n);
  await eventually(() => available(key)).toBe('2.50');
  const { payments } = (await h.request('GET', '/payments/history', { key })).body.data;
  expect(payments.map(({ amount }: { amount: string }) => amount)).toEqual(['0.50', '2.00']);
  await ledgerEqualsChain();
});

it('a claim needs the signature of that wallet, works once, and only for one account', async () => {
  const wallet = await h.newWallet(10_000_000n);
  await send(wallet, 1_000_000n);
  await eventually(() => suspended(wallet)).toBe(1_000_000n);
  const [first, second] = await Promise.all([
    accountOf(privateKeyToAccount(generatePrivateKey())),
    accountOf(privateKeyToAccount(generatePrivateKey())),
  ]);
  const forged = await claim(first.key, wallet, privateKeyToAccount(generatePrivateKey()));
  expect(forged.taken.status).toBe(400);
  expect(await suspended(wallet)).toBe(1_000_000n);

  const asked = await h.request('POST', '/payments/claims', { key: first.key, body: { address: wallet.address } });
  const { challengeId, message } = asked.body.data;
  const body = { challengeId, signature: await wallet.signMessage({ message }) };
  const foreign = await h.request('POST', '/payments/claims', { key: second.key, body });
  expect(foreign.status).toBe(404);
  const answers = await Promise.all(
    Array.from({ length: 5 }, () => h.request('POST', '/payments/claims', { key: first.key, body })),
  );
  expect(answers.map(({ status }) => status).sort()).toEqual([200, 409, 409, 409, 409]);
  expect(await available(first.key)).toBe('1.00');
  const claimed = { address: wallet.address.toLowerCase(), provenAt: expect.any(String) };
  expect((await h.request('GET', '/account', { key: first.key })).body.data.wallets).toEqual([claimed]);
  const late = await claim(second.key, wallet);
  expect(late.taken.status).toBe(409);
  expect(await available(second.key)).toBe('0.00');
});

it('transfers of a former wallet of the node, plain or by an authorization, are credited to no account and pay for nothing', async () => {
  const { ctx, rpcUrl } = h;
  const sender = await h.newWallet(2_000_000n);
  await send(sender, 2_000_000n);
  await eventually(() => suspended(sender)).toBe(2_000_000n);
  const former = await newWallet(rpcUrl, ctx.chain.token, 1_000_000n, formerKey);
  const { key } = await accountOf(former);
  const signedBy = async (wallet: Signer, to: string, valueMicro: bigint) => {
    const validBeforeS = BigInt(Math.floor(Date.now() / 1000) + 3600);
    const from = wallet.address;
    const authorization = { from, to, valueMicro, validAfterS: 0n, validBeforeS, nonce: generatePrivateKey() };
    return {
      authorization,
      signature: await wallet.signHash(authorizationDigest(ctx.chain.domainSeparator, authorization)),
    };
  };
  // As before the change: what the books have is in the former wallet.
  await submitSigned(rpcUrl, h, await signedBy(ctx.wallet, former.address.toLowerCase(), 1_500_000n));
  await send(former, 900_000n);
  await submitSigned(rpcUrl, h, await signedBy(createLocalSigner(formerKey), ctx.chain.wallet, 600_000n));
  const behind = await h.newWallet(100_000n);
  await send(behind, 100_000n);
  await eventually(() => suspended(behind)).toBe(100_000n);
  await readTransfers({ ...ctx, clock: later(21) });
  expect([await available(key), await suspended(former)]).toEqual(['0.00', 0n]);
  await ledgerEqualsChain();
  expect((await readReserves(ctx)).driftMicro).toBe(0n);
  const invoke = (headers = {}) => h.request('POST', `/invoke/${agent.id}`, { key, body: { task: 'x' }, headers });
  const refused = await invoke(await payV2(h, former, await invoke()));
  expect(refused.status).toBe(402);
});

it.each([
  ['zero', zeroAddress],
  ['the precompile that echoes what it is asked', '0x0000000000000000000000000000000000000004' as const],
  ['the token', '0x036CbD53842c5426634e7929541eC2318f3dCF7e' as const],
  ['Multicall3', MULTICALL3_ADDRESS as Hex],
])("an address without a key or a contract wallet can't be claimed: %s", async (_name, address) => {
  const { key } = await accountOf(privateKeyToAccount(generatePrivateKey()));
  const claims = (body: object) => h.request('POST', '/payments/claims', { key, body });
  const signer = privateKeyToAccount(generatePrivateKey());
  const magic = `0x1626ba7e${'0'.repeat(56)}`;
  for (const forge of [
    (message: string) => signer.signMessage({ message }),
    () => `0x${'0'.repeat(130)}`,
    () => magic,
  ]) {
    const asked = await claims({ address });
    expect(asked.status).toBe(200);
    const { challengeId, message } = asked.body.data;
    expect((await claims({ challengeId, signature: await forge(message) })).status).toBe(400);
  }
  expect((await h.request('GET', '/account', { key })).body.data.wallets).toEqual([]);
});

it('an authorization that a third party submitted pays for the request when the account of its wallet shows it, and is not credited beside it', async () => {
  const wallet = await h.newWallet(1_000_000n);
  const { key } = await accountOf(wallet);
  const invoke = (headers = {}) => h.request('POST', `/invoke/${agent.id}`, { key, body: { task: 'x' }, headers });
  const headers = await payV2(h, wallet, await invoke());
  await submitPayment(h.rpcUrl, h, headers);
  await eventually(unshown).toBe(1);
  await readTransfers({ ...h.ctx, clock: later(19) });
  const paid = await invoke(headers);
  expect(paid.body.data).toMatchObject({ status: 'completed' });
  await readTransfers({ ...h.ctx, clock: later(21) });
  expect(await unshown()).toBe(0);
  expect(await available(key)).toBe('0.00');
  await ledgerEqualsChain();
});

it('an authorization that is never shown is credited to the wallet it came from, and pays for nothing afterwards', async () => {
  const wallet = await h.newWallet(1_000_000n);
  const { key } = await accountOf(wallet);
  const invoker = await h.newAccount();
  const invoke = (headers = {}) =>
    h.request('POST', `/invoke/${agent.id}`, { key: invoker.key, body: { task: 'x' }, headers });
  const headers = await payV2(h, wallet, await invoke());
  await submitPayment(h.rpcUrl, h, headers);
  await eventually(unshown).toBe(1);
  await readTransfers({ ...h.ctx, clock: later(21) });
  expect(await available(key)).toBe('0.05');
  expect((await invoke(headers)).status).toBe(409);
  await ledgerEqualsChain();
});

it('a reorg makes the reader go back: a transfer that moved to another block is credited once, and later ones are read', async () => {
  const wallet = await h.newWallet(1_000_000n);
  const { key } = await accountOf(wallet);
  const raw = await sendSigned(wallet, 300_000n);
  for (let block = 0; block < 2; block++) await callChain(h.rpcUrl, 'evm_mine');
  await eventually(() => available(key)).toBe('0.30');
  await moveTo(1, raw);
  await send(wallet, 100_000n);
  await eventually(() => available(key)).toBe('0.40');
  await ledgerEqualsChain();
});

it('a reorg while blocks are read hides nothing: what the new blocks have is credited', async () => {
  const wallet = await h.newWallet(1_000_000n);
  const { key } = await accountOf(wallet);
  const { incomingTransfers } = h.ctx;
  const raw = await signTransfer(wallet, 250_000n);
  for (let block = 0; block < 3; block++) await callChain(h.rpcUrl, 'evm_mine');
  let isOld = false;
  const read = async (from: bigint, to: bigint) => {
    const found = await incomingTransfers.read(from, to);
    if (isOld || to < (await incomingTransfers.headBlock())) return found;
    isOld = true;
    await callChain(h.rpcUrl, 'anvil_reorg', 2, [[raw, 0]]);
    return found;
  };
  await readTransfers({ ...h.ctx, incomingTransfers: { ...incomingTransfers, read } });
  if (!isOld) await callChain(h.rpcUrl, 'eth_sendRawTransaction', raw);
  await eventually(() => available(key)).toBe('0.25');
  await ledgerEqualsChain();
});

it('a reorg below the block where a read begins hides nothing: what the new blocks have is credited', async () => {
  const wallet = await h.newWallet(1_000_000n);
  const { key } = await accountOf(wallet);
  const { incomingTransfers } = h.ctx;
  const raw = await signTransfer(wallet, 150_000n);
  let isOld = false;
  while (!isOld) {
    await callChain(h.rpcUrl, 'evm_mine');
    await readTransfers(h.ctx);
    const begin = await incomingTransfers.headBlock();
    await callChain(h.rpcUrl, 'evm_mine');
    const hashAt = async (block: bigint) => {
      if (block > begin && !isOld) {
        isOld = true;
        await callChain(h.rpcUrl, 'anvil_reorg', 2, [[raw, 0]]);
      }
      return incomingTransfers.hashAt(block);
    };
    await readTransfers({ ...h.ctx, incomingTransfers: { ...incomingTransfers, hashAt } });
  }
  await eventually(() => available(key)).toBe('0.15');
  await ledgerEqualsChain();
});

describe('a transfer that a reorg took back', () => {
  it('and that was reversed is credited again when the chain takes it in again, however late, and once', async () => {
    const wallet = await h.newWallet(1_000_000n);
    const { key } = await accountOf(wallet);
    const raw = await sendSigned(wallet, 300_000n);
    await eventually(() => available(key)).toBe('0.30');
    for (const turn of [1, 2]) {
      await takeBack(keccak256(raw));
      await reverseLost();
      expect([turn, await available(key)]).toEqual([turn, '0.00']);
      await ledgerEqualsChain();
      await callChain(h.rpcUrl, 'eth_sendRawTransaction', raw);
      await eventually(() => available(key)).toBe('0.30');
      await Promise.all([readTransfers(h.ctx), readTransfers(h.ctx)]);
      await reverseLost();
      expect([turn, await available(key)]).toEqual([turn, '0.30']);
      await ledgerEqualsChain();
    }
    const { payments } = (await h.request('GET', '/payments/history', { key })).body.data;
    expect(payments.map(({ status }: { status: string }) => status)).toEqual(['confirmed', 'failed', 'failed']);
    expect(new Set(payments.map((each: { transactionHash: string }) => each.transactionHash))).toEqual(
      new Set([keccak256(raw)]),
    );
  });

  it('is noticed when a look at the chain that began before has not ended yet', async () => {
    const wallet = await h.newWallet(1_000_000n);
    const { key } = await accountOf(wallet);
    const raw = await sendSigned(wallet, 100_000n);
    await eventually(() => available(key)).toBe('0.10');
    const held: (() => void)[] = [];
    let isHolding = false;
    const query: typeof h.ctx.db.query = async (name, ...rest) => {
      const rows = await h.ctx.db.query(name, ...rest);
      if (isHolding && name === 'list-seen-blocks') await new Promise<void>((resolve) => held.push(resolve));
      return rows as never;
    };
    const watch = createReorgWatch({ ...h.ctx, db: { ...h.ctx.db, query } });
    await watch.look();
    isHolding = true;
    const [first, isHeld] = [watch.look(), async () => held.length > 0];
    await until(isHeld);
    await reorgOut(keccak256(raw));
    const second = watch.look();
    await sleep(100);
    expect(held).toHaveLength(1);
    isHolding = false;
    held[0]?.();
    await Promise.all([first, second]);
    expect(
      await listLost(h.ctx.db, h.ctx.chain, h.ctx.clock.now(), { createdAt: new Date(0), id: '' }, 10),
    ).toHaveLength(1);
    await reverseLost();
    expect(await available(key)).toBe('0.00');
  });

  it('and that is in a block again before it is reversed never is, whoever sees it first', async () => {
    const wallet = await h.newWallet(1_000_000n);
    const { key } = await accountOf(wallet);
    const raw = await sendSigned(wallet, 200_000n);
    await eventually(() => available(key)).toBe('0.20');
    await takeBack(keccak256(raw));
    // Asked before the transfer is back, and answered after the reader has seen it.
    const [lost] = await listLost(h.ctx.db, h.ctx.chain, h.ctx.clock.now(), { createdAt: new Date(0), id: '' }, 10);
    if (!lost) throw new Error('nothing is lost');
    await callChain(h.rpcUrl, 'eth_sendRawTransaction', raw);
    await eventually(
      async () =>
        (await listLost(h.ctx.db, h.ctx.chain, h.ctx.clock.now(), { createdAt: new Date(0), id: '' }, 10)).length,
    ).toBe(0);
    await reversePayment(h.ctx, lost, 'of a reading that is old');
    await reverseLost();
    expect(await available(key)).toBe('0.20');
    await ledgerEqualsChain();
  });

  it('and that the chain takes in again without moving the money is reversed', async () => {
    const wallet = await h.newWallet(300_000n);
    const { key } = await accountOf(wallet);
    const invoker = await h.newAccount();
    const call = { key: invoker.key, body: { task: 'x' } };
    const headers = await payV2(h, wallet, await h.request('POST', `/invoke/${agent.id}`, call));
    const raw = await sendSigned(wallet, 300_000n);
    await eventually(() => available(key)).toBe('0.30');
    await takeBack(keccak256(raw));
    // Now the wallet has too little for it.
    await submitPayment(h.rpcUrl, h, headers);
    await callChain(h.rpcUrl, 'eth_sendRawTransaction', raw);
    await expect.poll(() => blockOf(keccak256(raw))).toBeTruthy();
    await eventually(unshown).toBe(1);
    await reverseLost();
    expect(await available(key)).toBe('0.00');
    await readTransfers({ ...h.ctx, clock: later(21) });
    expect(await available(key)).toBe('0.05');
    await ledgerEqualsChain();
  });

  it('and came back in another position of its transaction is credited once', async () => {
    const address = privateKeyToAccount(generatePrivateKey()).address;
    const { token, wallet } = h.ctx.chain;
    await callChain(h.rpcUrl, 'anvil_setCode', address, dependingOnBlock(token, wallet, [100n, 300_000n]));
    const funder = await h.newWallet(1_000_000n);
    await transferUsdc(h.rpcUrl, h, { from: funder.address, to: address, micro: 1_000_000n });
    const signer = await h.newWallet(0n);
    const raw = await signCall(signer, address, async () => {
      const head = await callChain<Hex>(h.rpcUrl, 'eth_blockNumber');
      return pad(toHex(BigInt(head) + 2n));
    });
    await callChain(h.rpcUrl, 'eth_sendRawTransaction', raw);
    const came = () => suspended({ ...signer, address });
    await eventually(came).toBe(300_100n);
    await settleChain();
    await moveTo(2, raw);
    await eventually(came).toBe(600_100n);
    await h.ctx.reorgWatch.look();
    await reverseLost();
    expect(await came()).toBe(300_000n);
    await ledgerEqualsChain();
  });

  it('and that came by an authorization never presented is credited again as well', async () => {
    const wallet = await h.newWallet(1_000_000n);
    const { key } = await accountOf(wallet);
    const invoker = await h.newAccount();
    const call = { key: invoker.key, body: { task: 'x' } };
    const headers = await payV2(h, wallet, await h.request('POST', `/invoke/${agent.id}`, call));
    await settleChain();
    const hash = (await submitPayment(h.rpcUrl, h, headers)) as Hex;
    await eventually(unshown).toBe(1);
    await readTransfers({ ...h.ctx, clock: later(21) });
    expect(await available(key)).toBe('0.05');
    await takeBack(hash);
    await reverseLost();
    expect(await available(key)).toBe('0.00');
    await submitPayment(h.rpcUrl, h, headers);
    await eventually(unshown).toBe(1);
    await ledgerAndUnshownEqualChain(50_000n);
    await readTransfers({ ...h.ctx, clock: later(21) });
    expect(await available(key)).toBe('0.05');
    await ledgerEqualsChain();
  });

  it('is taken from the treasury that it was claimed into meanwhile, and not from the node', async () => {
    const wallet = await h.newWallet(1_000_000n);
    const raw = await sendSigned(wallet, 400_000n);
    await eventually(() => suspended(wallet)).toBe(400_000n);
    await takeBack(keccak256(raw));
    const [before] = await listLost(h.ctx.db, h.ctx.chain, h.ctx.clock.now(), { createdAt: new Date(0), id: '' }, 10);
    if (!before) throw new Error('nothing is lost');
    const { key } = await accountOf(privateKeyToAccount(generatePrivateKey()));
    await claim(key, wallet);
    expect(await available(key)).toBe('0.40');
    await reversePayment(h.ctx, before, 'of a reading that is old');
    await reverseLost();
    expect(await available(key)).toBe('0.00');
    expect((await readReserves(h.ctx)).reserves.loss).toBe('0.00');
    await ledgerEqualsChain();
  });
});

/** What was minted and given stands in blocks that stay. */
async function settleChain(): Promise<void> {
  for (let block = 0; block < 2; block++) await callChain(h.rpcUrl, 'evm_mine');
}
/** The chain has other blocks instead of the newest, down to the one of the transaction, and the node has seen that. */
async function takeBack(hash: Hex): Promise<void> {
  await reorgOut(hash);
  const lost = async () => {
    await h.ctx.reorgWatch.look();
    return (await listLost(h.ctx.db, h.ctx.chain, h.ctx.clock.now(), { createdAt: new Date(0), id: '' }, 10)).length;
  };
  await expect.poll(lost).toBe(1);
}
/** Repeated when the chain mined a block after its height was read: the reorg does not reach the transaction then. */
async function reorgOut(hash: Hex): Promise<void> {
  do await callChain(h.rpcUrl, 'anvil_reorg', await depthOf(hash), []);
  while (await blockOf(hash));
}
/** Takes the transfer back, into the given one of the new blocks. */
async function moveTo(block: number, raw: Hex): Promise<void> {
  const hash = keccak256(raw);
  const before = await blockOf(hash);
  // A block may be mined after the depth was read: then the reorg ends above the transfer.
  do await callChain(h.rpcUrl, 'anvil_reorg', await depthOf(hash), [[raw, block]]);
  while ((await blockOf(hash)) === before);
}
const depthOf = async (hash: Hex): Promise<number> => {
  const { blockNumber } = await callChain<{ blockNumber: Hex }>(h.rpcUrl, 'eth_getTransactionReceipt', hash);
  return Number(await callChain(h.rpcUrl, 'eth_blockNumber')) - Number(blockNumber) + 1;
};
/** Eleven minutes later. */
const reverseLost = () => recollectLost({ ...h.ctx, clock: { now: () => new Date(Date.now() + 660_000) } });
async function ledgerAndUnshownEqualChain(micro: bigint): Promise<void> {
  expect(await h.usdcOf(h.ctx.chain.wallet)).toBe((await walletByBooks(h.databaseUrl)) + micro);
  expect((await readReserves(h.ctx)).reserves.status).toBe('settling');
}

/** A transfer that its sender signed: a reorg can put it into another block. */
async function sendSigned(wallet: TestWallet, micro: bigint): Promise<Hex> {
  const raw = await signTransfer(wallet, micro);
  await callChain(h.rpcUrl, 'eth_sendRawTransaction', raw);
  return raw;
}
const signTransfer = (wallet: TestWallet, micro: bigint): Promise<Hex> => {
  const { token, wallet: to } = h.ctx.chain;
  const data = encodeFunctionData({ abi: usdcAbi, functionName: 'transfer', args: [to as Hex, micro] });
  return signCall(wallet, token as Hex, async () => data);
};
async function signCall(wallet: TestWallet, to: Hex, data: () => Promise<Hex>): Promise<Hex> {
  await callChain(h.rpcUrl, 'anvil_setBalance', wallet.address, '0xde0b6b3a7640000');
  await settleChain();
  return wallet.signTransaction({
    chainId: h.ctx.chain.chainId,
    to,
    data: await data(),
    gas: 200_000n,
    maxFeePerGas: 10_000_000_000n,
    maxPriorityFeePerGas: 0n,
    nonce: 0,
  });
}
/** Code that transfers both amounts before the block of its calldata, and the second one from it on. */
function dependingOnBlock(token: string, to: string, [first, second]: [bigint, bigint]): Hex {
  const transfer = (micro: bigint) =>
    `63a9059cbb60e01b5f5273${to.slice(2)}6004527f${pad(toHex(micro)).slice(2)}6024525f5f60445f5f73${token.slice(2)}5af150`;
  const before = transfer(first);
  const dest = (9 + before.length / 2).toString(16).padStart(4, '0');
  return `0x5f3543101561${dest}57${before}5b${transfer(second)}00`;
}
const blockOf = async (hash: Hex) =>
  (await callChain<{ blockHash: string } | null>(h.rpcUrl, 'eth_getTransactionReceipt', hash))?.blockHash;

const unshown = async () => (await h.ctx.db.query('count-unshown', 'select 1 from unshown_transfer')).length;
const later = (minutes: number) => ({ now: () => new Date(h.ctx.clock.now().getTime() + minutes * 60_000) });
