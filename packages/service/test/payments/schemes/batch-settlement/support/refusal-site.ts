import { expect, vi } from 'vitest';
import { type Clock, systemClock } from '../../../../../src/lib/clock.ts';
import { contradictions } from '../../../../support/books.ts';
import { refillWallet } from '../../../../support/chain-actions.ts';
import { type Answer, type Harness, startHarness } from '../../../../support/harness.ts';
import { startTestAgent, type TestAgent } from '../../../../support/test-agent.ts';
import {
  newVoucherPayer,
  requiredBy,
  settledBy,
  type VoucherChanges,
  type VoucherPayer,
} from '../../../../support/voucher-payer.ts';

export const PRICE = 50_000n;
/** The sum that the next voucher of a used channel has to be for. */
export const DUE = 2n * PRICE;
export const MIN_DEPOSIT = 200_000n;
/** Balance of a payer's channel and wallet. */
export const HELD = 1_000_000n;

export type Headers = Record<string, string>;
export type Call = (headers?: Headers, task?: string) => Promise<Answer>;

export interface Refused {
  /** Code of the scheme, without its prefix; or after a `=` the reason of the metric as it is. */
  readonly code: string;
  readonly status?: number;
  /** True when the answer contains the sum, as only the holder of the key can have signed this. */
  readonly isTold?: boolean;
}

/** A node that takes channels, with one agent: where payloads that have to be refused are shown. */
export interface RefusalSite {
  readonly h: Harness;
  readonly agent: TestAgent;
  /** A call of the agent with a key, and without one; the address that gives refunds. */
  readonly keyed: Call;
  readonly keyless: Call;
  readonly askRefund: Call;
  /** A payer with USDC in its wallet on chain. */
  richPayer(): Promise<VoucherPayer>;
  /** A payer with a channel that was charged once, so that there are a voucher and a sum to disclose. */
  usedPayer(call?: Call): Promise<VoucherPayer>;
  /** A used channel with its deposit on chain, where contract and books agree. */
  depositor(): Promise<VoucherPayer>;
  /** Writes to the row of a channel. */
  setChannel(payer: VoucherPayer, assignment: string): Promise<unknown>;
  /** Everything that a refused payload could have changed. */
  world(payer: VoucherPayer): Promise<object>;
  /** Refusals by reason, as the metric counts them. */
  refusals(): Promise<Record<string, number>>;
  /** Presents a payload that must be refused: by its code, counted once; without a run, a charge, a disclosure or a turn. */
  expectRefused(payer: VoucherPayer, show: () => Promise<Answer>, refused: Refused): Promise<void>;
  stop(): Promise<void>;
}

export async function startRefusalSite(
  env: Record<string, string> = {},
  clock: Clock = systemClock,
): Promise<RefusalSite> {
  const h = await startHarness({
    clock,
    env: { CHANNELS: 'true', CHANNEL_MIN_DEPOSIT: '0.2', CHANNEL_MIN_REFUND: '0.01', ...env },
  });
  const agent = await startTestAgent(h, { perRequest: '0.05' });
  const account = await h.newAccount();
  const keyed: Call = (headers = {}, task = 'refused') =>
    h.request('POST', `/invoke/${agent.id}`, { key: account.key, body: { task }, headers });
  const keyless: Call = (headers = {}, task = 'refused') =>
    h.request('POST', `/x402/${agent.id}`, { body: { task }, headers });
  const richPayer = async () => {
    const payer = newVoucherPayer(h);
    await refillWallet(h.rpcUrl, h, { address: payer.config.payer }, HELD);
    return payer;
  };
  const refusals = async () => {
    const { values } = await h.ctx.metrics.channelRefusals.get();
    return Object.fromEntries(values.map(({ labels, value }) => [String(labels.reason), value]));
  };
  const world = async ({ config, channelId }: VoucherPayer) => {
    const [row] = await h.ctx.db.query<object>(
      'world',
      `select (select count(*) from invocation) as invocations, 
              -- Claims are booked whenever they are mined, whatever is refused meanwhile.
              (select count(*) from transfer where kind not in ('voucher_claim', 'sweep')) as transfers,
              (select count(*) from channel_charge) as charges, (select count(*) from chain_payment) as payments,
              (select count(*) from channel_refund) as refunds, (select count(*) from account) as accounts,
              (select row_to_json(c) from (select balance_micro, charged_micro, reserved_micro, signed_micro, signature, refund_id
                                             from channel where id = $1) c) as channel`,
      [channelId],
    );
    return { ...row, runs: agent.calls.length, wallet: await h.usdcOf(config.payer) };
  };
  return {
    ...{ h, agent, keyed, keyless, richPayer, refusals, world },
    askRefund: (headers = {}) => h.request('GET', `/invoke/${agent.id}`, { headers }),
    async usedPayer(call = keyed) {
      const payer = newVoucherPayer(h);
      await payer.fund(HELD);
      expect((await call(payer.pay(await call(), PRICE))).status).toBe(200);
      return payer;
    },
    async depositor() {
      const payer = await richPayer();
      const deposit = { payload: await payer.deposit(MIN_DEPOSIT) };
      expect((await keyed(payer.pay(await keyed(), PRICE, deposit))).body.data.status).toBe('completed');
      return payer;
    },
    setChannel: ({ channelId }, assignment) =>
      h.ctx.db.query('', `update channel set ${assignment} where id = $1`, [channelId]),
    async expectRefused(payer, show, { code, status = 402, isTold = false }) {
      const reason = code.startsWith('=') ? code.slice(1) : `invalid_batch_settlement_evm_${code}`;
      const before = { world: await world(payer), refusals: await refusals() };
      const take = vi.spyOn(h.ctx.channels.turns, 'take');
      const answer = await show();
      const turns = take.mock.calls.length;
      take.mockRestore();
      expect(answer.status, JSON.stringify(answer.body)).toBe(status);
      if (status === 402) expect(requiredBy(answer).error).toBe(reason);
      expect(await refusals()).toEqual({ ...before.refusals, [reason]: (before.refusals[reason] ?? 0) + 1 });
      expect(await world(payer)).toEqual(before.world);
      const settled = answer.headers.get('payment-response');
      if (settled !== null) expect(settledBy(answer)).toMatchObject({ success: false, transaction: '' });
      expect(isTelling(answer), 'state of a channel is told').toBe(isTold);
      if (!isTold) expect(turns, 'turns taken').toBe(0);
    },
    async stop() {
      expect(await contradictions(h.databaseUrl)).toEqual([]);
      await agent.die();
      await h.stop();
    },
  };
}

/** True if an answer holds state of a channel, in its body or in its header. */
export function isTelling(answer: Answer): boolean {
  const header = answer.headers.get('payment-required');
  const told = JSON.stringify(answer.body) + (header ? JSON.stringify(requiredBy(answer)) : '');
  return /channelState|voucherState|chargedCumulative|signedMaxClaimable/.test(told);
}

/** A payload that is wrong, made of a payer's good one. */
export interface WrongPayload {
  readonly max?: bigint;
  readonly changes?: VoucherChanges;
  /** Assignment to the channel's row, before. */
  readonly prepare?: string;
  readonly isTold?: boolean;
}

export type WrongCase = [what: string, make: (payer: VoucherPayer) => WrongPayload, code: string];

const N = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n;
/** The other signature of the same key over the same digest. */
export function highS(signature: string): string {
  const s = N - BigInt(`0x${signature.slice(66, 130)}`);
  return `${signature.slice(0, 66)}${s.toString(16).padStart(64, '0')}${signature.endsWith('1b') ? '1c' : '1b'}`;
}
export const lowV = (signature: string): string =>
  `${signature.slice(0, 130)}${signature.endsWith('1b') ? '00' : '01'}`;
