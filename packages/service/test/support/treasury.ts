import type { RequestRecord } from '@agent-network/contracts/invocations/invocations';
import { parseUsdc } from '@agent-network/contracts/money';
import type { Harness, TestAccount } from './harness.ts';
import { until } from './until.ts';
import { payV2, type TokenHost } from './x402-payer.ts';

type Host = Pick<Harness, 'request' | 'newAccount' | 'newWallet'> & TokenHost;

export interface Client extends TestAccount {
  readonly treasuryId: string;
}

/** Pays a deposit into a treasury, as a client does: 402 first, then the same request with the payment until it is not pending. */
export async function deposit(host: Host, key: string, treasuryId: string, amount: string): Promise<void> {
  const path = '/payments/treasury/deposit';
  const body = { amount, treasuryId };
  const unpaid = await host.request('POST', path, { key, body });
  const headers = await payV2(host, await host.newWallet(parseUsdc(amount)), unpaid);
  const pay = async () => {
    const { status, body: answer } = await host.request('POST', path, { key, body, headers });
    return answer?.error?.code === 'PAYMENT_PENDING' ? null : status;
  };
  const status = await until(pay);
  if (status !== 200) throw new Error(`the deposit was answered with ${status ?? 'PAYMENT_PENDING'}`);
}

/** A new account with this much in its treasury. */
export async function newClient(host: Host, amount: string): Promise<Client> {
  const account = await host.newAccount();
  const { body } = await host.request('POST', '/payments/treasury', { key: account.key, body: {} });
  const { treasuryId } = body.data;
  await deposit(host, account.key, treasuryId, amount);
  return { ...account, treasuryId };
}

/** `available` and `held` of everything that the key may see. */
export async function balanceOf(
  host: Pick<Harness, 'request'>,
  key: string,
): Promise<{ available: string; held: string }> {
  const { available, held } = (await host.request('GET', '/payments/balance', { key })).body.data;
  return { available, held };
}

/** Sum of a key's payment history: income of treasuries less their payments. Pending deposits don't count. */
export async function sumOfHistory(host: Pick<Harness, 'request'>, key: string): Promise<bigint> {
  const sign: Record<string, bigint> = { deposit: 1n, earning: 1n, charge: -1n };
  const { payments, hasMore } = (await host.request('GET', '/payments/history?limit=100', { key })).body.data;
  if (hasMore) throw new Error('the history is longer than a page');
  return payments
    .filter(({ status }: { status: string }) => status === 'confirmed')
    .reduce(
      (sum: bigint, each: { type: string; amount: string }) => sum + (sign[each.type] ?? 0n) * parseUsdc(each.amount),
      0n,
    );
}

/** The record of a request, once it has ended. */
export async function untilEnded(
  host: Pick<Harness, 'request'>,
  key: string,
  requestId: string,
): Promise<RequestRecord> {
  return until(async function hasEnded() {
    const record: RequestRecord = (await host.request('GET', `/invoke/${requestId}`, { key })).body.data;
    return record.completedAt === null ? null : record;
  });
}

/** Waits for the chain to show this balance; returns the last one seen. */
export async function untilUsdc(host: Pick<Harness, 'usdcOf'>, address: string, wantedMicro: bigint): Promise<bigint> {
  await until(async () => (await host.usdcOf(address)) === wantedMicro).catch(() => undefined);
  return host.usdcOf(address);
}
