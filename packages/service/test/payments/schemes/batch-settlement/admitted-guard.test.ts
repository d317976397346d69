import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { silentLog } from '../../../../src/lib/telemetry/log.ts';
import {
  admittedGuard,
  findChannels,
  openChannel,
} from '../../../../src/payments/schemes/batch-settlement/channel-store.ts';
import { judgeVoucher } from '../../../../src/payments/schemes/batch-settlement/judge-voucher.ts';
import { type Database, openDatabase } from '../../../../src/store/database.ts';
import { GuardError } from '../../../../src/store/transaction.ts';
import { createTestDatabase, type TestDatabase } from '../../../support/test-database.ts';

let database: TestDatabase;
let db: Database;
beforeAll(async () => {
  database = await createTestDatabase();
  db = openDatabase(database.url, { log: silentLog });
});
afterAll(async () => {
  await db.close();
  await database.drop();
});

const hex = (bytes: number): `0x${string}` => `0x${randomBytes(bytes).toString('hex')}`;

/** A channel of this state, whatever else a new one has. */
async function channelWith(state: string): Promise<string> {
  const id = hex(32);
  const [payer, receiver, token] = [hex(20), hex(20), hex(20)];
  const config = {
    ...{ payer, payerAuthorizer: payer, receiver, receiverAuthorizer: receiver, token },
    ...{ withdrawDelayS: 86_400, salt: hex(32) },
  };
  await db.transaction((tx) => openChannel(tx, { id, chain: { chainId: 1, ledgerAsset: null }, config }, new Date()));
  await db.query('', `update channel set ${state} where id = $1`, [id]);
  return id;
}

const isAdmitted = (voucher: { channelId: string; maxMicro: bigint; priceMicro: bigint }): Promise<boolean> =>
  db.flush([admittedGuard([{ ...voucher, requestId: 'req_mine' }])]).then(
    () => true,
    (error) => {
      if (error instanceof GuardError) return false;
      throw error;
    },
  );

const signed = `signed_micro = 300, signature = '0xaa'`;
const used = `balance_micro = 1000, charged_micro = 200, reserved_micro = 100, ${signed}`;
const states = [
  'balance_micro = 1000',
  used,
  `${used}, claimed_micro = 200, published_micro = 200`,
  `${used}, claimed_micro = 300, published_micro = 300`,
  `${used}, published_micro = 301`,
  `${used}, claimed_micro = 301`,
  `${used}, withdraw_requested_at = now()`,
  `${used}, refund_id = 'ref_1'`,
  `balance_micro = 340, charged_micro = 200, reserved_micro = 100, ${signed}`,
  `${used}, turn_request = 'req_other', turn_until = now() + interval '1 minute'`,
  `${used}, turn_request = 'req_mine', turn_until = now() + interval '1 minute'`,
  `${used}, turn_request = 'req_other', turn_until = now() - interval '1 minute'`,
];

it.each(states)('the guard of a flush admits a voucher if and only if the rule does: %s', async (state) => {
  const channelId = await channelWith(state);
  const channel = (await findChannels(db, [channelId])).get(channelId) ?? null;
  const isInTurn = (channel?.turnRequestId ?? 'req_mine') === 'req_mine';
  for (const priceMicro of [0n, 40n, 41n])
    for (const maxMicro of [0n, 40n, 41n, 339n, 340n, 341n, 1040n, 10n ** 30n]) {
      const judged = judgeVoucher(channel, { maxMicro, priceMicro }).kind === 'admitted' && isInTurn;
      expect([maxMicro, priceMicro, await isAdmitted({ channelId, maxMicro, priceMicro })]).toEqual([
        maxMicro,
        priceMicro,
        judged,
      ]);
    }
});

it('the guard of a flush admits nothing to a channel that is not known, or that somebody has locked', async () => {
  expect(await isAdmitted({ channelId: hex(32), maxMicro: 40n, priceMicro: 40n })).toBe(false);
  const voucher = { channelId: await channelWith(used), maxMicro: 340n, priceMicro: 40n };
  const [locked, letGo] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const holding = db.transaction(async (tx) => {
    await tx.query('', 'select from channel where id = $1 for update', [voucher.channelId]);
    locked.resolve();
    await letGo.promise;
  });
  await locked.promise;
  expect(await isAdmitted(voucher)).toBe(false);
  letGo.resolve();
  await holding;
  expect(await isAdmitted(voucher)).toBe(true);
});
