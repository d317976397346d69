import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { askDatabase } from '../../support/books.ts';
import { type BookedTestChannel, charge, openChannel } from '../../support/channel-books.ts';
import { type Engine, startEngine } from '../../support/engine.ts';

/** More than are looked at together. */
const MANY = 501;

let engine: Engine;
beforeAll(async () => {
  engine = await startEngine({ senders: 1, claims: { thresholdMicro: 1000n, minMicro: 10n, intervalMs: 3_600_000 } });
  await engine.mine(20);
});
afterEach(() => askDatabase(engine.databaseUrl, 'delete from channel where id < $1', [`0x${'0'.repeat(50)}1`]));
afterAll(() => engine.stop());

/** Copies a channel, its charges left out, so often that its like come before all others. */
const copy = ({ id }: BookedTestChannel, set: string) =>
  askDatabase(
    engine.databaseUrl,
    `insert into channel (id, chain_id, payer, payer_authorizer, receiver, receiver_authorizer, token, withdraw_delay_s, salt,
       balance_micro, charged_micro, signed_micro, signature, withdraw_requested_at, created_at, changed_at)
     select '0x' || lpad(to_hex(n), 64, '0'), chain_id, payer, payer_authorizer, receiver, receiver_authorizer, token, withdraw_delay_s,
            salt, balance_micro, ${set}, now(), now()
       from channel, generate_series(1, ${MANY}) n where id = $1`,
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
