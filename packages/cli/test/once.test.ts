import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { failure, startFakeNode, success } from '../../sdk/test/support/fake-node.ts';
import { BUNDLES } from '../../service/test/support/bundled.ts';
import { startCommandLines } from './support/command-lines.ts';

const to = `0x${'ab'.repeat(20)}`;
const sent = { withdrawalId: 'wdr_1', status: 'pending', amount: '1.00', to, transactionHash: null };
const quoted = { quoteId: 'qte_1', estimatedCost: '0.01' };
const record = { requestId: 'req_1', status: 'completed', paymentMethod: 'treasury', cost: '0.01', result: 'done' };

async function startLines(baseUrl: string) {
  const folder = await mkdtemp(join(tmpdir(), 'agentnet-once-'));
  const env = { PATH: process.env.PATH, AGENTNET_CONFIG_DIR: folder, NODE_COMPILE_CACHE: BUNDLES };
  const lines = await startCommandLines({ ...env, AGENTNET_URL: baseUrl, AGENTNET_API_KEY: 'ank_test_x' });
  onTestFinished(async () => {
    await lines.stop();
    await rm(folder, { recursive: true });
  });
  return lines;
}

it('a call that runs is waited for while the node restarts', async () => {
  let looks = 0;
  await using node = await startFakeNode(({ method, path }) => {
    if (path === '/invoke/req_1') return ++looks < 6 ? 'hang up' : success(record);
    if (method === 'POST' && path.startsWith('/invoke/agt_1?'))
      return success({ requestId: 'req_1', status: 'processing' });
    return success(path.includes('quote') ? quoted : { id: 'agt_1', name: 'One' });
  });
  const lines = await startLines(node.baseUrl);
  const { code, stdout } = await lines.run(['call', 'agt_1', 'hello', '--max-cost', '0.05']);
  expect([code, stdout]).toEqual([0, expect.stringContaining('done')]);
});

it.each([
  ['withdraw', ['withdraw', '1.00', '--to', to, '--yes'], sent],
  ['call', ['call', 'agt_1', 'hello', '--max-cost', '0.05'], record],
])('a %s with an unknown outcome names the key to repeat it with', async (_name, line, done) => {
  const isMoving = (path: string) => path === '/payments/withdraw' || path.startsWith('/invoke/agt_1?');
  let isAway = true;
  await using node = await startFakeNode(({ path }) => {
    if (!isMoving(path)) return success(path.includes('quote') ? quoted : { id: 'agt_1', name: 'One' });
    return isAway ? failure(503, 'UNAVAILABLE', {}, { 'retry-after': '60' }) : success(done);
  });
  const lines = await startLines(node.baseUrl);
  const first = await lines.run(line);
  const [, key = ''] = /--idempotency-key ([\w-]+)/.exec(first.stderr) ?? [];
  expect([first.code, first.stdout, key]).toEqual([1, '', expect.stringMatching(/^[\w-]{36}$/)]);
  isAway = false;
  expect((await lines.run([...line, '--idempotency-key', key])).code).toBe(0);
  const moves = node.seen.filter(({ path }) => isMoving(path));
  expect(moves.map(({ headers }) => headers['idempotency-key'])).toEqual([key, key]);
  expect(new Set(moves.map(({ body }) => body)).size).toBe(1);
});

it('the logs of a running request are all that was said until now', async () => {
  const event = (id: number, type: string, data: object) =>
    `id: ${id}\nevent: ${type}\ndata: ${JSON.stringify({ requestId: 'req_1', ...data })}\n\n`;
  const body = [
    event(1, 'invocation.created', {}),
    event(2, 'invocation.status', { status: 'processing' }),
    event(3, 'invocation.chunk', { chunk: 'said so far' }),
  ].join('');
  await using node = await startFakeNode(({ path }) =>
    path.endsWith('/events')
      ? { status: 200, body, headers: { 'content-type': 'text/event-stream' } }
      : success({ ...record, status: 'processing', result: null }),
  );
  const { code, stdout } = await (await startLines(node.baseUrl)).run(['calls', 'logs', 'req_1']);
  expect([code, stdout]).toEqual([0, expect.stringContaining('said so far')]);
});

it('a failed call prints its reason on stderr and nothing on stdout; its record with --json', async () => {
  const error = { code: 'agent_error', message: 'The agent could not be reached.' };
  const failed = { ...record, status: 'failed', result: null, error, refund: '0.01' };
  await using node = await startFakeNode(({ path }) =>
    success(path.endsWith('/quote') ? quoted : { ...failed, name: 'One' }),
  );
  const lines = await startLines(node.baseUrl);
  const line = ['call', 'agt_1', 'hello', '--max-cost', '0.05'];
  const ended = await lines.run(line);
  expect([ended.code, ended.stdout]).toEqual([1, '']);
  expect(ended.stderr).toContain('Failed: the agent could not be reached. 0.01 USDC was refunded.');
  expect(JSON.parse((await lines.run([...line, '--json'])).stdout)).toMatchObject({ status: 'failed' });
});
