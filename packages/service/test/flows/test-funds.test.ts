import { randomUUID } from 'node:crypto';
import { generatePrivateKey } from 'viem/accounts';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { requireAccount } from '../../src/accounts/caller.ts';
import { unkeyed } from '../../src/accounts/idempotency/once.ts';
import { createLocalSigner } from '../../src/chain/keys/local-signer.ts';
import { AppError } from '../../src/lib/app-error.ts';
import { addTestFunds } from '../../src/payments/deposits/test-funds.ts';
import { askDatabase, contradictions, walletByBooks } from '../support/books.ts';
import type { Harness } from '../support/harness.ts';
import { borrowHarness } from '../support/lent-harness.ts';
import { balanceOf, sumOfHistory } from '../support/treasury.ts';

let h: Harness;
beforeAll(async () => {
  h = await borrowHarness();
});
afterEach(async () => {
  expect(await contradictions(h.databaseUrl)).toEqual([]);
  expect(await walletByBooks(h.databaseUrl)).toBe(await h.usdcOf(h.ctx.wallet.address));
});
afterAll(() => h.stop());

const path = '/payments/test-funds';

describe('test money', () => {
  it('is a deposit from the faucet, once per key, into a treasury that it opens', async () => {
    const { key } = await h.newAccount();
    const headers = { 'idempotency-key': randomUUID() };
    const first = await h.request('POST', path, { key, headers });
    expect(first).toMatchObject({ status: 200, body: { data: { amount: '10.00', balance: '10.00' } } });
    const again = await h.request('POST', path, { key, headers });
    expect(again.body.data).toEqual(first.body.data);
    await h.request('POST', path, { key });
    expect(await balanceOf(h, key)).toEqual({ available: '20.00', held: '0.00' });
    expect(await sumOfHistory(h, key)).toBe(20_000_000n);
    const { payments } = (await h.request('GET', '/payments/history?type=deposit', { key })).body.data;
    expect(payments[0].counterparty).toBe(h.ctx.faucet?.address);
  });

  it('makes the accounts that got it no party', async () => {
    const { key, accountId, address } = await h.newAccount();
    await h.request('POST', path, { key });
    const contacts = await h.ctx.db.query('contacts', 'select wallet from account_contact where account_id = $1', [
      accountId,
    ]);
    expect(contacts).toEqual([{ wallet: address.toLowerCase() }]);
  });

  it('is not there without a faucet, nor for an identityToken', async () => {
    const give = await newReceiver();
    const none = await give({ faucet: null });
    expect(none).toMatchObject({ code: 'NOT_FOUND' });
    const { body } = await h.request('GET', '/auth/session');
    expect(body.data.testFunds).toBe('10.00');
  });

  it('of an empty faucet is refused as unavailable, and counts for nothing', async () => {
    const give = await newReceiver();
    const once = { ...h.ctx.faucetSettings, perAccount: 1 };
    const empty = createLocalSigner(generatePrivateKey());
    expect(await give({ faucet: empty, faucetSettings: once })).toMatchObject({ code: 'UNAVAILABLE' });
    expect(await give({ faucetSettings: once })).toBe('10.00');
    expect(await give({ faucetSettings: once })).toMatchObject({ code: 'RATE_LIMITED' });
  });

  it('that was claimed counts, also without a key, when the node fails before the answer', async () => {
    const give = await newReceiver();
    const faucetSettings = { ...h.ctx.faucetSettings, perAccount: 1 };
    const settle: typeof h.ctx.settler.settle = async (payment) => {
      await h.ctx.settler.settle(payment);
      throw new Error('the database is away');
    };
    const settler = Object.assign(Object.create(h.ctx.settler), { settle });
    await expect(give({ faucetSettings, settler })).rejects.toThrow('the database is away');
    expect(await give({ faucetSettings })).toMatchObject({ code: 'RATE_LIMITED' });
  });

  it.each([
    ['perAccount', 2, 1, 1],
    ['perAddress', 3, 6, 1],
    ['perDay', 4, 6, 6],
  ] as const)(
    'is given as often as %s allows, however many ask at once, and again after a day',
    async (name, most, accounts, addresses) => {
      // Gifts of the tests before count for the day of the node.
      const given = name === 'perDay' ? Number((await gifts('select count(*) from test_grant'))[0]?.count) : 0;
      const faucetSettings = { ...h.ctx.faucetSettings, [name]: given + most };
      const givers = await Promise.all(Array.from({ length: accounts }, newReceiver));
      const networks = Array.from({ length: addresses }, () => `2001:db8:${(nextSite++).toString(16)}`);
      const ask = () =>
        Promise.all(
          Array.from({ length: 6 }, (_, n) =>
            // A client has a whole /64 of addresses.
            givers[n % accounts]?.({ faucetSettings }, `${networks[n % addresses]}::${n}`),
          ),
        );
      const refusals = (answers: unknown[]) => answers.filter((each) => each instanceof AppError);
      const first = refusals(await ask());
      expect(first).toHaveLength(6 - most);
      for (const refused of first) expect(refused).toMatchObject({ code: 'RATE_LIMITED' });
      expect(refusals(await ask())).toHaveLength(6);
      await gifts(`update test_grant set created_at = created_at - interval '25 hours'`);
      expect(refusals(await ask())).toHaveLength(6 - Math.min(6, given + most));
    },
  );
});

let nextSite = 1;
const gifts = (sql: string) => askDatabase<{ count?: string }>(h.databaseUrl, sql);

/** A new account, and a way to ask for it from an address, with other parts of the node: what was added, or the error. */
async function newReceiver() {
  const { key } = await h.newAccount();
  const caller = requireAccount(await h.ctx.authenticator.authenticate(`Bearer ${key}`));
  return (parts: Partial<Parameters<typeof addTestFunds>[0]>, client = '198.51.100.7'): Promise<string | AppError> =>
    addTestFunds({ ...h.ctx, ...parts }, caller, client, unkeyed).then(
      ({ amount }) => amount,
      (error: unknown) => {
        if (error instanceof AppError) return error;
        throw error;
      },
    );
}
