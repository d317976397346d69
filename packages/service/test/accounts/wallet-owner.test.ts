import { afterAll, beforeAll, expect, it } from 'vitest';
import { admitWallet } from '../../src/accounts/admit-wallet.ts';
import { accountsOfWallets, holdAccountsOfWallets, linkWallet } from '../../src/accounts/link-wallet.ts';
import type { Tx } from '../../src/store/sql.ts';
import { askDatabase } from '../support/books.ts';
import { newSigner } from '../support/browser.ts';
import { type Harness, startHarness } from '../support/harness.ts';
import { until } from '../support/until.ts';

let h: Harness;
beforeAll(async () => {
  h = await startHarness();
});
afterAll(() => h.stop());

const newAddress = () => newSigner().address.toLowerCase();
const now = () => h.ctx.clock.now();

/** Begins `first` in a transaction, then `second` in another, and commits the first once the second waits for it. */
async function inTurn<One, Other>(first: (tx: Tx) => Promise<One>, second: (tx: Tx) => Promise<Other>) {
  const [done, seen] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const one = h.ctx.db.transaction(async (tx) => {
    const result = await first(tx);
    done.resolve();
    await seen.promise;
    return result;
  });
  await done.promise;
  const other = h.ctx.db.transaction(second);
  const waits = `select pid from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;
  const isWaiting = async () => (await askDatabase(h.databaseUrl, waits)).length > 0;
  await until(isWaiting);
  seen.resolve();
  return Promise.allSettled([one, other]);
}

it('whoever links a wallet waits for money that is on its way to suspense, and so finds it there', async () => {
  const { accountId } = await h.newAccount();
  const address = newAddress();
  const [credited, linked] = await inTurn(
    (tx) => holdAccountsOfWallets(tx, [address]),
    (tx) => linkWallet(tx, address, accountId, now()),
  );
  expect(credited).toEqual({ status: 'fulfilled', value: new Map() });
  expect(linked.status).toBe('fulfilled');
});

it('money from a wallet that is being linked goes to its new owner', async () => {
  const { accountId } = await h.newAccount();
  const address = newAddress();
  const [, credited] = await inTurn(
    (tx) => linkWallet(tx, address, accountId, now()),
    (tx) => holdAccountsOfWallets(tx, [address]),
  );
  expect(credited).toEqual({ status: 'fulfilled', value: new Map([[address, accountId]]) });
});

it('a wallet that is being linked to an account gets none of its own', async () => {
  const { accountId } = await h.newAccount();
  const address = newAddress();
  const [, admitted] = await inTurn(
    (tx) => linkWallet(tx, address, accountId, now()),
    (tx) => admitWallet(h.ctx, tx, address, now()),
  );
  expect(admitted).toMatchObject({ status: 'rejected', reason: { code: 'CONFLICT' } });
  expect(await accountsOfWallets(h.ctx.db, [address])).toEqual(new Map([[address, accountId]]));
});
