import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { askDatabase, contradictions, walletByBooks } from '../support/books.ts';
import { at, type NodeCluster, type NodeProcess, startCluster } from '../support/node-cluster.ts';
import { balanceOf, newClient, untilUsdc } from '../support/treasury.ts';
import { until } from '../support/until.ts';

let cluster: NodeCluster;
/** The process of the node to which callers turn when theirs is dead. */
let living: NodeProcess | undefined;
const untilHeir = async () => {
  living ??= await cluster.startProcess();
  return at(cluster, living);
};
beforeAll(async () => {
  cluster = await startCluster();
});
afterAll(() => cluster.stop());

const withdrawals = () =>
  askDatabase<{ id: string }>(
    cluster.databaseUrl,
    `select subject_id as id from chain_payment where purpose = 'withdrawal'`,
  );

it('a withdrawal is paid once when its process is killed between commit and answer, and its repetition under the key finds it', async () => {
  const mortal = await cluster.startProcess();
  const { key } = await newClient(at(cluster, mortal), '1');
  const to = privateKeyToAccount(generatePrivateKey()).address.toLowerCase();
  const call = { key, body: { amount: '0.4', to }, headers: { 'idempotency-key': 'once' } };
  // The chain takes it and does not say so: the caller waits for the end of it, and the process is killed meanwhile.
  cluster.proxy.rule('eth_sendRawTransaction', async ({ forward }) => {
    await forward();
    return null;
  });
  cluster.proxy.rule('eth_getTransactionReceipt', () => null);
  const lost = at(cluster, mortal)
    .request('POST', '/payments/withdraw', call)
    .catch(() => null);
  const isCommitted = async () => (await withdrawals()).length > 0;
  await until(isCommitted);
  await mortal.kill();
  expect(await lost).toBeNull();
  await askDatabase(cluster.databaseUrl, 'delete from process');
  cluster.proxy.rule('eth_sendRawTransaction', null);
  cluster.proxy.rule('eth_getTransactionReceipt', null);

  const heir = await untilHeir();
  const again = await heir.request('POST', '/payments/withdraw', call);
  expect([again.status, again.body.error]).toEqual([200, undefined]);
  expect(await withdrawals()).toEqual([{ id: again.body.data.withdrawalId }]);
  expect(await untilUsdc(cluster, to, 400_000n)).toBe(400_000n);
  const third = await heir.request('POST', '/payments/withdraw', call);
  expect([third.body, third.headers.get('idempotency-replayed')]).toEqual([again.body, 'true']);
  expect(await balanceOf(heir, key)).toEqual({ available: '0.60', held: '0.00' });
  const other = await heir.request('POST', '/payments/withdraw', { ...call, headers: { 'idempotency-key': 'two' } });
  expect(other.body.data.withdrawalId).not.toBe(again.body.data.withdrawalId);
  expect(await untilUsdc(cluster, to, 800_000n)).toBe(800_000n);
  const isBooked = async () =>
    (await walletByBooks(cluster.databaseUrl)) === (await cluster.usdcOf(cluster.walletAddress));
  await until(isBooked);
  expect(await contradictions(cluster.databaseUrl)).toEqual([]);
});

const agentBody = {
  name: 'Shown once',
  capabilities: ['testing'],
  rates: { perRequest: '1' },
  endpoint: 'http://127.0.0.1:1/',
};

it.each([
  ['an agent', '/agents', agentBody, 'identityToken', 'select id from agent where name = $1'],
  ['an API key', '/account/keys', { name: 'Shown once' }, 'apiKey', 'select id from api_key where name = $1'],
])(
  '%s made by a process that is killed before it answered is there once, and its secret is shown to who repeats the call',
  async (_what, path, body, secret, made) => {
    const mortal = await cluster.startProcess({ FAILPOINT: 'before-take-secret' });
    const { key } = await cluster.newAccount();
    const call = { key, body, headers: { 'idempotency-key': 'once' } };
    expect(
      await at(cluster, mortal)
        .request('POST', path, call)
        .catch(() => null),
    ).toBeNull();
    expect(await mortal.ended).toBe('SIGKILL');
    expect(await askDatabase(cluster.databaseUrl, made, [body.name])).toHaveLength(1);

    const heir = await untilHeir();
    const again = await heir.request('POST', path, call);
    expect([again.status, again.headers.get('idempotency-replayed')]).toEqual([200, 'true']);
    expect(await askDatabase(cluster.databaseUrl, made, [body.name])).toHaveLength(1);
    const asIt = await heir.request('GET', '/payments/balance', { key: again.body.data[secret] });
    expect(asIt.status).toBe(200);
    const third = await heir.request('POST', path, call);
    expect(third.body.data).toMatchObject({ [secret]: null, secretNotice: expect.stringContaining('shown once') });
  },
);
