import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { findMoneyContradictions } from '../../../src/calls/finish/audit-money.ts';
import { systemClock } from '../../../src/lib/clock.ts';
import { silentLog } from '../../../src/lib/telemetry/log.ts';
import { aggregateTotals } from '../../../src/payments/ledger/aggregate-totals.ts';
import { inAsset } from '../../../src/payments/ledger/asset-account.ts';
import { endHolds, holdMoney } from '../../../src/payments/ledger/hold-money.ts';
import { keepAssets } from '../../../src/payments/ledger/keep-assets.ts';
import {
  findLedgerAccount,
  openLedgerAccount,
  postTransfers,
  WALLET,
} from '../../../src/payments/ledger/ledger-store.ts';
import { sumByKind } from '../../../src/payments/ledger/ledger-total-store.ts';
import { type Database, openDatabase } from '../../../src/store/database.ts';
import { createTestDatabase, type TestDatabase } from '../../support/test-database.ts';

const OTHER = 'eip155:421614/erc20:0x75faf114eafb1bdbe2f0316df893fd58ce46aa4d';
const now = new Date();

let database: TestDatabase;
let db: Database;
beforeAll(async () => {
  database = await createTestDatabase();
  db = openDatabase(database.url, { max: 4, log: silentLog });
  const common = {
    isLocal: true,
    name: '',
    tokenName: '',
    tokenVersion: '',
    domainSeparator: '0x' as const,
    wallet: '',
  };
  await keepAssets({ db, clock: systemClock }, [
    { ...common, chainId: 84532, caip2: 'eip155:84532', token: '0x1', ledgerAsset: null },
    {
      ...common,
      chainId: 421614,
      caip2: 'eip155:421614',
      token: OTHER.split(':').at(-1) as string,
      ledgerAsset: OTHER,
    },
  ]);
  for (const asset of [null, OTHER])
    for (const plainId of ['payer:a', 'payer:b'])
      await openLedgerAccount(db, { id: inAsset(plainId, asset), kind: 'payer', address: plainId, now });
});
afterAll(async () => {
  await db.close();
  await database.drop();
});

const deposit = (id: string, debit: string, credit: string) => ({
  ...{ id, debit, credit, amountMicro: 1000n },
  ...{ kind: 'deposit' as const, subjectId: id },
});
const balanceOf = async (id: string) => (await findLedgerAccount(db, id))?.postedMicro;

describe('the books of two assets', () => {
  it('have accounts and totals of their own, also for the fee and the wallet', async () => {
    await postTransfers(db, [deposit('d1', WALLET, 'payer:a')], now);
    await postTransfers(db, [deposit('d2', inAsset(WALLET, OTHER), inAsset('payer:a', OTHER))], now);
    await db.transaction(async (tx) => {
      const hold = { id: 'h1', scheme: 'exact' as const, amountMicro: 600n, expiresAt: now };
      await holdMoney(tx, [{ ...hold, ledgerAccountId: inAsset('payer:a', OTHER) }], now);
      const end = { id: 'h1', captureMicro: 500n, feeMicro: 50n, creditId: inAsset('payer:b', OTHER) };
      await endHolds(tx, [end], now);
    });
    await aggregateTotals({ db });
    const byKind = async (asset: string | null) => Object.fromEntries(await sumByKind(db, asset));
    expect(await byKind(null)).toEqual({ wallet: -1000n, payer: 1000n });
    expect(await byKind(OTHER)).toEqual({ wallet: -1000n, payer: 950n, fees: 50n });
    expect(await balanceOf('payer:a')).toBe(1000n);
    expect(await balanceOf(inAsset('payer:a', OTHER))).toBe(500n);
    expect(await balanceOf(inAsset('payer:b', OTHER))).toBe(450n);
    expect(await findMoneyContradictions({ db })).toEqual([]);
  });

  it.each([
    [WALLET, inAsset('payer:a', OTHER)],
    [inAsset(WALLET, OTHER), 'payer:a'],
    ['payer:a', inAsset('payer:b', OTHER)],
  ])('refuse a transfer from %s to %s', async (debit, credit) => {
    await expect(postTransfers(db, [deposit('crossed', debit, credit)], now)).rejects.toThrow('transfer_asset_check');
  });

  it('refuse a transfer to an account that is not there in its asset', async () => {
    const missing = deposit('missing', inAsset(WALLET, OTHER), inAsset('payer:c', OTHER));
    await expect(postTransfers(db, [missing], now)).rejects.toThrow('ledger_total_kind_check');
  });

  it.each(['vouchers', 'claimed'])('money in %s without a channel is a contradiction in either', async (kind) => {
    const found = async () =>
      (await findMoneyContradictions({ db })).flatMap((each) =>
        each.kind === 'channels_differ' ? [each.subject] : [],
      );
    for (const asset of [null, OTHER]) {
      const id = `${kind} ${asset}`;
      await postTransfers(db, [deposit(id, inAsset(kind, asset), inAsset('payer:a', asset))], now);
      expect(await found()).toEqual([inAsset(kind, asset)]);
      await postTransfers(db, [deposit(`${id} back`, inAsset('payer:a', asset), inAsset(kind, asset))], now);
      expect(await found()).toEqual([]);
    }
  });
});
