import { mkdtemp, readdir, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type Reply, type Seen, startFakeNode } from '../../sdk/test/support/fake-node.ts';
import { BUNDLES } from '../../service/test/support/bundled.ts';
import { startCommandLines } from './support/command-lines.ts';

const walletKey = generatePrivateKey();
const payTo = privateKeyToAccount(generatePrivateKey()).address;

/** Terms of a service for 0.01 USDC on Base Sepolia. */
const terms = (amount = '10000', more: object = {}) => ({
  x402Version: 2,
  resource: { url: 'https://service.example/paid', description: 'A service', mimeType: 'application/json' },
  accepts: [
    {
      scheme: 'exact',
      network: 'eip155:84532',
      amount,
      asset: '0x036CbD53842c5426634e7929541eC2318f3dCF7e',
      payTo,
      maxTimeoutSeconds: 60,
      extra: { name: 'USDC', version: '2' },
    },
  ],
  ...more,
});
const asks = (given = terms()): Reply => ({
  status: 402,
  body: {},
  headers: { 'payment-required': Buffer.from(JSON.stringify(given)).toString('base64') },
});
const paymentOf = ({ headers }: Seen): string | undefined => headers['payment-signature'] as string | undefined;

let folder: string;
let lines: Awaited<ReturnType<typeof startCommandLines>>;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'agentnet-curl-'));
  const env = { PATH: process.env.PATH, AGENTNET_CONFIG_DIR: folder, NODE_COMPILE_CACHE: BUNDLES };
  lines = await startCommandLines({ ...env, AGENTNET_WALLET_KEY: walletKey, AGENTNET_API_KEY: 'ank_test_secret' });
});
afterAll(async () => {
  await lines.stop();
  await rm(folder, { recursive: true });
});

const curl = (...args: string[]) => lines.run(['curl', ...args]);
const keptFiles = () => readdir(join(folder, 'payments')).catch(() => []);

it('pays what the URL asks for within --max-cost, and prints the answer alone', async () => {
  await using node = await startFakeNode((seen) =>
    paymentOf(seen) ? { status: 200, body: { sum: 3 }, headers: { 'x-more': 'yes' } } : asks(),
  );
  const ended = await curl(`${node.baseUrl}/paid`, '-d', '{"a":1}', '-H', 'X-Mine: 1', '--max-cost', '0.01');
  expect([ended.code, ended.stdout]).toEqual([0, '{"sum":3}']);
  expect(ended.stderr).toContain('Paid 0.01 USDC');
  expect(
    node.seen.map(({ method, body, headers }) => [method, body, headers['x-mine'], headers['content-type']]),
  ).toEqual(Array(2).fill(['POST', '{"a":1}', '1', 'application/json']));
  const { payload } = JSON.parse(Buffer.from(paymentOf(node.seen[1] as Seen) ?? '', 'base64').toString());
  expect(payload.authorization).toMatchObject({ to: payTo, value: '10000' });
  // The key of the account is for its node only.
  expect(node.seen.map(({ headers }) => headers.authorization)).toEqual([undefined, undefined]);
  expect(await keptFiles()).toEqual([]);
});

it('shows what needs no payment, with its status', async () => {
  await using node = await startFakeNode(() => ({ status: 404, body: { no: true } }));
  expect(await curl(node.baseUrl, '--json')).toMatchObject({
    code: 1,
    stdout: expect.stringContaining('"status":404'),
  });
  expect(node.seen.length).toBe(1);
});

it.each([
  ['more than --max-cost', asks(terms('10001')), ['--max-cost', '0.01'], 5],
  ['nobody to ask', asks(), [], 2],
  ['another token', asks(terms('1', { accepts: [{ ...terms().accepts[0], asset: payTo }] })), ['--yes'], 5],
  ['terms of another version', { status: 402, body: { x402Version: 1, accepts: [] } }, ['--yes'], 5],
])('%s: nothing is signed', async (_name, reply, args, code) => {
  await using node = await startFakeNode(() => reply);
  const ended = await curl(node.baseUrl, ...args);
  expect([ended.code, ended.stdout]).toEqual([code, '']);
  expect(node.seen.map(paymentOf)).toEqual([undefined]);
});

it.each([
  ['a URL with credentials', ['http://a:b@127.0.0.1/']],
  ['no http', ['ftp://127.0.0.1/']],
  ['a payment of its own', ['http://127.0.0.1/', '-H', 'Payment-Signature: x']],
  ['a header over two lines', ['http://127.0.0.1/', '-H', 'a: b\r\nc: d']],
])('%s is refused unsent', async (_name, args) => {
  expect((await curl(...args)).code).toBe(2);
});

it('presents the same payment again until there is an answer, also in the next run', async () => {
  let isUp = false;
  await using node = await startFakeNode((seen) => {
    if (!paymentOf(seen)) return asks();
    return isUp ? { status: 200, body: 'done' } : 'hang up';
  });
  const run = () => curl(`${node.baseUrl}/once`, '--yes');
  const lost = await run();
  expect([lost.code, lost.stdout]).toEqual([1, '']);
  expect(lost.stderr).toContain('presents the same payment');
  const [file = ''] = await keptFiles();
  expect((await stat(join(folder, 'payments', file))).mode & 0o777).toBe(0o600);
  isUp = true;
  expect(await run()).toMatchObject({ code: 0, stdout: 'done' });
  const payments = node.seen.map(paymentOf).filter((each) => each !== undefined);
  expect([payments.length, new Set(payments).size]).toEqual([4, 1]);
  expect(await keptFiles()).toEqual([]);
});

it('signs a second payment for a request only when told to', async () => {
  let accepts: string | undefined;
  await using node = await startFakeNode((seen) => {
    const payment = paymentOf(seen);
    return payment && payment !== accepts && accepts !== undefined
      ? { status: 200, body: 'done' }
      : asks(terms('1', { error: 'no funds' }));
  });
  const run = (...more: string[]) => curl(`${node.baseUrl}/refused`, '--yes', ...more);
  const refused = await run();
  expect([refused.code, refused.stdout]).toEqual([5, '']);
  expect(refused.stderr).toContain('no funds');
  expect((await run()).code).toBe(5);
  const payments = () => [...new Set(node.seen.map(paymentOf).filter((each) => each !== undefined))];
  expect(payments().length).toBe(1);
  [accepts] = payments();
  expect(await run('--pay-again')).toMatchObject({ code: 0, stdout: 'done' });
  expect(payments().length).toBe(2);
  expect(await keptFiles()).toEqual([]);
});

it('does not follow a redirect, which would take the payment elsewhere', async () => {
  await using node = await startFakeNode((seen) =>
    paymentOf(seen) ? { status: 302, body: '', headers: { location: 'http://127.0.0.1:9/thief' } } : asks(),
  );
  const ended = await curl(`${node.baseUrl}/moved`, '--yes');
  expect([ended.code, node.seen.length]).toEqual([1, 2]);
  expect(ended.stderr).toContain('Redirected to http://127.0.0.1:9/thief');
});
