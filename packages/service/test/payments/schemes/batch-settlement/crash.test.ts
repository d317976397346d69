import { afterAll, afterEach, beforeAll, expect, it, vi } from 'vitest';
import { armFailpoint, failpoints, parseFailpoint } from '../../../../src/lib/process/failpoint.ts';
import { reconcilePayments } from '../../../../src/payments/reconcile/reconcile.ts';
import { refundChannel } from '../../../../src/payments/schemes/batch-settlement/claims/refund-channel.ts';
import { askDatabase, contradictions } from '../../../support/books.ts';
import { type BookedTestChannel, charge, openChannel } from '../../../support/channel-books.ts';
import { signVoucher } from '../../../support/channels.ts';
import { type Engine, type EngineContext, startEngine } from '../../../support/engine.ts';

let engine: Engine;
let other: EngineContext;
beforeAll(async () => {
  engine = await startEngine({ senders: 1 });
  other = await engine.anotherProcess();
});
afterEach(() => vi.restoreAllMocks());
afterAll(() => engine.stop());

const around = (...steps: string[]) => steps.flatMap((step) => [`before-${step}`, `after-${step}`]);
const ofClaims = around('channel-claim-commit', 'channel-book-commit', 'channel-record-commit');
const ofRefunds = around('channel-refund-commit', 'channel-book-commit', 'channel-record-commit');

/** Runs work that dies at a failpoint: a transaction under way is rolled back, and nothing after that place is done. */
async function dieAt(name: string, work: () => Promise<unknown>): Promise<void> {
  const failpoint = parseFailpoint(name);
  if (!failpoint) throw new Error(`there is no failpoint ${name}`);
  vi.spyOn(process, 'kill').mockImplementation(() => {
    throw new Error('the process is dead');
  });
  armFailpoint(failpoint);
  await expect(work()).rejects.toThrow('the process is dead');
}

/** What other processes do by and by: send stored bytes again, look outcomes up, claim what is due. */
async function recover(): Promise<void> {
  await askDatabase(engine.databaseUrl, `update chain_transaction set created_at = created_at - interval '1 minute'`);
  await askDatabase(engine.databaseUrl, `update chain_signer set leased_until = now() where leased_by is not null`);
  await reconcilePayments(other, 0);
  await other.channelClaims.claim('payout');
}

const onChain = async ({ id }: BookedTestChannel) => (await other.settlementContract.readChannels([id], null))[0];
const recorded = async ({ id }: BookedTestChannel) =>
  askDatabase<{ claimed: string; state: string; refund: string | null }>(
    engine.databaseUrl,
    `select c.claimed_micro::text as claimed, c.refund_id as refund, k.state from channel c
       join channel_claim_row r on r.channel_id = c.id join channel_claim k on k.id = r.claim_id where c.id = $1`,
    [id],
  );

it.each(ofClaims)('a process that dies %s of a claim: the vouchers are claimed once, and booked once', async (name) => {
  const channel = await openChannel(engine, 5000n);
  await charge(engine, channel, 2000n);
  await dieAt(name, () => engine.ctx.channelClaims.claim('payout'));
  await recover();
  expect(await onChain(channel)).toMatchObject({ balanceMicro: 5000n, claimedMicro: 2000n });
  expect(await recorded(channel)).toEqual([{ claimed: '2000', state: 'done', refund: null }]);
  expect(await contradictions(engine.databaseUrl)).toEqual([]);
});

it.each(ofRefunds)(
  'a process that dies %s of a refund: the payer gets it once, and the channel opens again',
  async (name) => {
    const channel = await openChannel(engine, 5000n);
    const maxMicro = await charge(engine, channel, 2000n);
    const signature = signVoucher(engine.ctx.chain, channel.payer, channel.config, maxMicro);
    const ask = {
      channelId: channel.id,
      voucher: { maxMicro, signature },
      amountMicro: null,
      payloadKey: 'memo',
      client: null,
    };
    await dieAt(name, () => refundChannel(engine.ctx, ask));
    await recover();
    expect(await refundChannel(other, ask)).toMatchObject({ kind: 'refunded', amountMicro: 3000n });
    expect(await other.usdc.balanceOf(channel.payer.address)).toBe(3000n);
    expect(await onChain(channel)).toMatchObject({ balanceMicro: 2000n, claimedMicro: 2000n, refundNonce: 1n });
    expect((await recorded(channel)).every(({ claimed, refund }) => claimed === '2000' && refund === null)).toBe(true);
    expect(await contradictions(engine.databaseUrl)).toEqual([]);
  },
);

it('dies at every failpoint of claims and refunds there is', () => {
  // What comes before a charge: flows/crash-points.test.ts.
  const isOfClaims = /channel-(claim|record|book|refund)-/;
  const tried = new Set([...ofClaims, ...ofRefunds]);
  expect(failpoints.filter((name) => isOfClaims.test(name) && !tried.has(name))).toEqual([]);
});
