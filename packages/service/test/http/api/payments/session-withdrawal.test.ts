import { parseSiweMessage } from 'viem/siwe';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Browser, cookieOf, fromOwnPage, newSigner, openBrowser } from '../../../support/browser.ts';
import { type Harness, startHarness } from '../../../support/harness.ts';
import { deposit } from '../../../support/treasury.ts';
import { expectError } from '../support/expect-error.ts';

let h: Harness;
let offsetMs = 0;
beforeAll(async () => {
  h = await startHarness({ clock: { now: () => new Date(Date.now() + offsetMs) } });
});
afterAll(() => h.stop());

interface Owner extends Browser {
  readonly treasuryId: string;
}

/** Someone signed in whose treasury holds 5 USDC. */
async function newOwner(browser?: Browser): Promise<Owner> {
  const owner = browser ?? (await openBrowser(h));
  const { treasuryId } = (await owner.request('POST', '/payments/treasury', { body: {} })).body.data;
  const { apiKey } = (await owner.request('POST', '/account/keys', { body: { name: 'x' } })).body.data;
  await deposit(h, apiKey, treasuryId, '5');
  return { ...owner, treasuryId };
}

const ask = async (owner: Browser, body: object) =>
  (await owner.request('POST', '/payments/withdraw/challenge', { body })).body.data;
async function proofOf(owner: Browser, body: object, signer = owner.wallet) {
  const { challengeId, message } = await ask(owner, body);
  return { challengeId, signature: await signer.signMessage({ message }) };
}
const withdraw = (owner: Browser, body: object) => owner.request('POST', '/payments/withdraw', { body });
const available = async (owner: Browser) => (await owner.request('GET', '/payments/balance')).body.data.available;

describe('a session withdraws', () => {
  it('what its wallet signed for, once', async () => {
    const owner = await newOwner();
    const body = { amount: '1.25' };
    const proof = await proofOf(owner, body);
    const answers = await Promise.all([withdraw(owner, { ...body, proof }), withdraw(owner, { ...body, proof })]);
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 409]);
    expectError(await withdraw(owner, { ...body, proof }), 'CONFLICT');
    expect(await h.usdcOf(owner.wallet.address)).toBe(1_250_000n);
    expect(await available(owner)).toBe('3.75');
  });

  it('by a text that names amount, source and recipient', async () => {
    const owner = await newOwner();
    const { message, challengeId } = await ask(owner, { amount: '1.5', treasuryId: owner.treasuryId });
    expect(parseSiweMessage(message)).toMatchObject({
      address: owner.wallet.address,
      uri: `${h.baseUrl}/payments/withdraw`,
      requestId: challengeId,
      statement: `Withdraw 1.50 USDC from the treasury ${owner.treasuryId}, to ${owner.wallet.address}.`,
    });
  });

  it('the same when what goes without saying is said, and the amount is written otherwise', async () => {
    const owner = await newOwner();
    const proof = await proofOf(owner, { amount: '1' });
    const { treasuryId, wallet } = owner;
    const said = { amount: '1.000000', treasuryId, to: wallet.address, from: 'treasury', proof };
    expect((await withdraw(owner, said)).status).toBe(200);
  });

  it('not without a proof, and the refusal says how', async () => {
    const owner = await newOwner();
    const refused = await withdraw(owner, { amount: '1' });
    expectError(refused, 'FORBIDDEN');
    expect(refused.body.error.message).toContain('POST /payments/withdraw/challenge');
  });

  it.each(['amount', 'recipient', 'treasury', 'source'])('not with a proof for another %s', async (what) => {
    const owner = await newOwner();
    const agent = {
      name: 'a',
      description: 'b',
      capabilities: ['c'],
      endpoint: 'http://127.0.0.1:9/',
      rates: { perRequest: '0' },
    };
    const { id: agentId } = (await owner.request('POST', '/agents', { body: agent })).body.data;
    const other = (await owner.request('POST', '/payments/treasury', { body: { agentId } })).body.data;
    expect(other.treasuryId).not.toBe(owner.treasuryId);
    const body = { amount: '1', treasuryId: owner.treasuryId, to: owner.wallet.address };
    const changed = {
      amount: { ...body, amount: '1.000001' },
      recipient: { ...body, to: newSigner().address },
      treasury: { ...body, treasuryId: other.treasuryId },
      source: { ...body, from: 'fees' },
    }[what] as object;
    const proof = await proofOf(owner, body);
    expectError(await withdraw(owner, { ...changed, proof }), what === 'source' ? 'FORBIDDEN' : 'VALIDATION_ERROR');
    expect(await available(owner)).toBe('5.00');
    expect((await withdraw(owner, { ...body, proof })).status).toBe(200);
  });

  it("not with another account's proof, another wallet's signature, or that of another text", async () => {
    const [owner, stranger] = [await newOwner(), await newOwner()];
    const body = { amount: '1' };
    expectError(await withdraw(owner, { ...body, proof: await proofOf(stranger, body) }), 'NOT_FOUND');
    const foreign = await proofOf(owner, body, stranger.wallet);
    expectError(await withdraw(owner, { ...body, proof: foreign }), 'VALIDATION_ERROR');
    const { challengeId, message } = await ask(owner, body);
    const signature = await owner.wallet.signMessage({ message: `${message}\n` });
    expectError(await withdraw(owner, { ...body, proof: { challengeId, signature } }), 'VALIDATION_ERROR');
    expect([await available(owner), await available(stranger)]).toEqual(['5.00', '5.00']);
  });

  it('not with a signature for signing in or for claiming, nor the other way round', async () => {
    const owner = await newOwner();
    const { address } = owner.wallet;
    const proof = await proofOf(owner, { amount: '1' });
    for (const path of ['/payments/claims', '/identity/verify', '/auth/session', '/auth/sign-in'])
      expectError(await owner.request('POST', path, { body: proof }), 'NOT_FOUND');
    for (const path of ['/auth/challenge', '/payments/claims']) {
      const { challengeId, message } = (await owner.request('POST', path, { body: { address } })).body.data;
      const signed = { challengeId, signature: await owner.wallet.signMessage({ message }) };
      expectError(await withdraw(owner, { amount: '1', proof: signed }), 'NOT_FOUND');
    }
    expect((await withdraw(owner, { amount: '1', proof })).status).toBe(200);
  });

  it('not when the proof is older than five minutes', async () => {
    const owner = await newOwner();
    const proof = await proofOf(owner, { amount: '1' });
    offsetMs += 301_000;
    expectError(await withdraw(owner, { amount: '1', proof }), 'CONFLICT');
  });

  it('once under one Idempotency-Key: the repetition gets the answer of the first', async () => {
    const owner = await newOwner();
    const body = { amount: '1', proof: await proofOf(owner, { amount: '1' }) };
    const headers = { ...fromOwnPage(h), 'idempotency-key': 'withdraw-1' };
    const [first, again] = [
      await owner.request('POST', '/payments/withdraw', { body, headers }),
      await owner.request('POST', '/payments/withdraw', { body, headers }),
    ];
    expect(first.status).toBe(200);
    expect(again.body.data).toEqual(first.body.data);
    expect(await available(owner)).toBe('4.00');
  });

  it('leaves the proof good when the withdrawal was refused', async () => {
    const owner = await newOwner();
    const proof = await proofOf(owner, { amount: '6' });
    expectError(await withdraw(owner, { amount: '6', proof }), 'INSUFFICIENT_FUNDS');
    const { apiKey } = (await owner.request('POST', '/account/keys', { body: { name: 'x' } })).body.data;
    await deposit(h, apiKey, owner.treasuryId, '1');
    expect((await withdraw(owner, { amount: '6', proof })).status).toBe(200);
  });

  it("without a signature as local mode's own account, whose key the node holds", async () => {
    const signedIn = await h.request('POST', '/auth/session/local', { headers: fromOwnPage(h) });
    const owner = await newOwner(await openBrowser(h, newSigner(), cookieOf(signedIn)));
    const to = newSigner().address;
    expect((await withdraw(owner, { amount: '1', to })).status).toBe(200);
    expect(await h.usdcOf(to)).toBe(1_000_000n);
  });
});

describe('a key', () => {
  it('with the scope withdraws without a proof, and takes none', async () => {
    const { key, address } = await h.newAccount();
    const { treasuryId } = (await h.request('POST', '/payments/treasury', { key, body: {} })).body.data;
    await deposit(h, key, treasuryId, '2');
    const body = { amount: '1' };
    expect((await h.request('POST', '/payments/withdraw', { key, body })).status).toBe(200);
    expect(await h.usdcOf(address)).toBe(1_000_000n);
    const proof = { challengeId: 'chl_1', signature: '0x12' };
    expectError(await h.request('POST', '/payments/withdraw', { key, body: { ...body, proof } }), 'VALIDATION_ERROR');
  });

  it('without the scope does not withdraw, with a proof neither', async () => {
    const owner = await newOwner();
    const { apiKey } = (await owner.request('POST', '/account/keys', { body: { name: 'x' } })).body.data;
    const body = { amount: '1', proof: await proofOf(owner, { amount: '1' }) };
    expectError(await h.request('POST', '/payments/withdraw', { key: apiKey, body }), 'FORBIDDEN');
  });
});
