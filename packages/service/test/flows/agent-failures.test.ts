import { createServer } from 'node:net';
import { gzipSync } from 'node:zlib';
import { parseUsdc } from '@agent-network/contracts/money';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { contradictions, walletByBooks } from '../support/books.ts';
import type { Harness } from '../support/harness.ts';
import { borrowHarness } from '../support/lent-harness.ts';
import { answerWith, type Behaviour, startTestAgent, type TestAgent } from '../support/test-agent.ts';
import { balanceOf, type Client, newClient, untilUsdc } from '../support/treasury.ts';
import { payV2 } from '../support/x402-payer.ts';

const MIB = 1024 * 1024;
const deep = `{"result":${'['.repeat(100_000)}${']'.repeat(100_000)}}`;

interface Failure {
  readonly behaviour: Behaviour;
  readonly code: string;
  /** What a person reads. */
  readonly says: RegExp;
  readonly tries?: number;
}

const failures: Record<string, Failure> = {
  'answers 400': {
    behaviour: answerWith(400, { error: { code: 'BAD_TASK', message: 'no such task' } }),
    code: 'agent_error',
    says: /answered 400: BAD_TASK: no such task/,
  },
  'answers 404 with a web page': {
    behaviour: answerWith(404, '<h1>lost</h1>'),
    code: 'agent_error',
    says: /answered 404\.$/,
  },
  'answers 500': {
    behaviour: answerWith(500, { error: { message: 'out of order' } }),
    code: 'agent_error',
    says: /answered 500: out of order/,
  },
  'answers 201': { behaviour: answerWith(201, { result: 'made' }), code: 'agent_error', says: /answered 201/ },
  'answers 204': {
    behaviour: (_, response) => void response.writeHead(204).end(),
    code: 'agent_error',
    says: /answered 204/,
  },
  'sends terminal control codes as its error': {
    behaviour: answerWith(422, { error: { message: '\u001b[2Jgone\u202e\u0000' } }),
    code: 'agent_error',
    says: /^The agent answered 422: [ -~]*gone[ -~]*\.$/,
  },
  'answers what is not JSON': {
    behaviour: answerWith(200, 'hello'),
    code: 'invalid_response',
    says: /has no "result" field/,
  },
  'answers nothing': { behaviour: answerWith(200, ''), code: 'invalid_response', says: /has no "result" field/ },
  'answers without a result': {
    behaviour: answerWith(200, { slug: 'x' }),
    code: 'invalid_response',
    says: /^Expected \{"result": \.\.\.\}; got an object with the field slug\.$/,
  },
  'answers a list': { behaviour: answerWith(200, ['result']), code: 'invalid_response', says: /has no "result" field/ },
  'answers half a JSON': {
    behaviour: answerWith(200, '{"result": "ha'),
    code: 'invalid_response',
    says: /has no "result" field/,
  },
  'nests its result 100,000 deep': { behaviour: answerWith(200, deep), code: 'invalid_response', says: /nested/ },
  'answers with a number that no double holds': {
    behaviour: answerWith(200, '{"result":{"a":[-1e400]}}'),
    code: 'invalid_response',
    says: /number that is too large/,
  },
  'answers with text that is not UTF-8': {
    behaviour: answerWith(200, Buffer.from('{"result":"caf\u00e9"}', 'latin1')),
    code: 'invalid_response',
    says: /not UTF-8/,
  },
  'names a cost that is a number': {
    behaviour: answerWith(200, { result: 1, cost: 0.01 }),
    code: 'invalid_response',
    says: /cost/,
  },
  'names a negative cost': {
    behaviour: answerWith(200, { result: 1, cost: '-0.01' }),
    code: 'invalid_response',
    says: /cost/,
  },
  'names a cost of seven decimals': {
    behaviour: answerWith(200, { result: 1, cost: '0.0000001' }),
    code: 'invalid_response',
    says: /cost/,
  },
  'redirects to itself': {
    behaviour: answerWith(307, '', { location: '/agent' }),
    code: 'agent_redirected',
    says: /answered with a redirect/,
  },
  'redirects elsewhere': {
    behaviour: answerWith(302, '', { location: 'http://127.0.0.1:1/' }),
    code: 'agent_redirected',
    says: /answered with a redirect/,
  },
  'announces 1 MiB and one byte': {
    behaviour: answerWith(200, JSON.stringify({ result: 'x'.repeat(MIB) }).slice(0, MIB + 1)),
    code: 'response_too_large',
    says: /more than 1 MiB/,
  },
  'streams without end': { behaviour: streamForever, code: 'response_too_large', says: /more than 1 MiB/ },
  'answers gzip although asked not to': {
    behaviour: answerWith(200, gzipSync('{"result":1}'), { 'content-encoding': 'gzip' }),
    code: 'invalid_response',
    says: /compressed/,
  },
  'hangs up without an answer': {
    behaviour: (_, response) => void response.socket?.destroy(),
    code: 'agent_unreachable',
    says: /closed the connection/,
  },
  'hangs up in the middle of its answer': {
    behaviour: hangUpHalfway,
    code: 'agent_unreachable',
    says: /closed the connection/,
  },
  'does not speak HTTP': {
    behaviour: (_, response) => void response.socket?.end('SSH-2.0-nope\r\n'),
    code: 'agent_unreachable',
    says: /closed the connection/,
  },
  'answers 502 every time': { behaviour: answerWith(502, ''), code: 'agent_error', says: /answered 502/, tries: 3 },
};

function streamForever(_: unknown, response: Parameters<Behaviour>[1]): void {
  response.writeHead(200, { 'content-type': 'application/json' });
  response.write('{"result":"');
  const more = () => {
    while (!response.destroyed && response.write('x'.repeat(65_536)));
  };
  response.on('drain', more);
  more();
}

function hangUpHalfway(_: unknown, response: Parameters<Behaviour>[1]): void {
  response.writeHead(200, { 'content-type': 'application/json', 'content-length': '1000' });
  response.write('{"result":"half', () => response.socket?.destroy());
}

let h: Harness;
let owner: Client;
let agent: TestAgent;
beforeAll(async () => {
  h = await borrowHarness();
  owner = await newClient(h, '0.000001');
  agent = await startTestAgent(h, { owner, perRequest: '0.05' });
});
afterAll(async () => {
  await agent.die();
  await h.stop();
});

const earned = async () => parseUsdc((await balanceOf(h, owner.key)).available);

describe.each(Object.entries(failures))('an agent that %s', (_name, { behaviour, code, says, tries = 1 }) => {
  const failed = {
    status: 'failed',
    result: null,
    cost: '0.00',
    refund: '0.05',
    error: { code, message: expect.stringMatching(says) },
  };

  it('fails the call with a reason, the treasury has its money back at once, the agent earns nothing', async () => {
    agent.behave(behaviour);
    const client = await newClient(h, '0.05');
    const [before, calls] = [await earned(), agent.calls.length];
    const { status, body } = await h.request('POST', `/invoke/${agent.id}`, {
      key: client.key,
      body: { task: 'x' },
      headers: { 'x-sync': 'true' },
    });
    expect(status).toBe(200);
    expect(body.data).toMatchObject({ ...failed, paymentMethod: 'treasury' });
    expect(await balanceOf(h, client.key)).toEqual({ available: '0.05', held: '0.00' });
    expect(await earned()).toBe(before);
    expect(agent.calls.length - calls).toBe(tries);
    expect(await contradictions(h.databaseUrl)).toEqual([]);
  });
});

describe('an agent that fails a call paid by x402', () => {
  const chosen = [
    'answers 400',
    'answers what is not JSON',
    'announces 1 MiB and one byte',
    'redirects elsewhere',
    'hangs up without an answer',
    'nests its result 100,000 deep',
  ];

  it.each(chosen)('%s: the money is back in the paying wallet on chain, once', async (name) => {
    const { behaviour, code } = failures[name] as Failure;
    agent.behave(behaviour);
    const { key } = await h.newAccount();
    const wallet = await h.newWallet(50_000n);
    const before = await earned();
    const call = { key, body: { task: name } };
    const headers = await payV2(h, wallet, await h.request('POST', `/invoke/${agent.id}`, call));
    const { status, body } = await h.request('POST', `/invoke/${agent.id}`, { ...call, headers });
    expect(status).toBe(200);
    expect(body.data).toMatchObject({ status: 'failed', cost: '0.00', refund: '0.05', error: { code } });
    expect(await untilUsdc(h, wallet.address, 50_000n)).toBe(50_000n);
    expect(await earned()).toBe(before);
    await h.ctx.settler.idle();
    expect(await walletByBooks(h.databaseUrl)).toBe(await h.usdcOf(h.ctx.wallet.address));
    expect(await contradictions(h.databaseUrl)).toEqual([]);
    const { payments } = (await h.request('GET', '/payments/history', { key })).body.data;
    expect(payments.map((each: Record<string, string>) => [each.type, each.amount, each.status]).sort()).toEqual([
      ['refund', '0.05', 'confirmed'],
      ['x402', '0.05', 'confirmed'],
    ]);
  });

  it('an answer behind a byte order mark is an answer (RFC 8259, section 8.1)', async () => {
    agent.behave(answerWith(200, '\ufeff{"result":"whole","cost":"0.02"}'));
    const { key } = await newClient(h, '0.05');
    const call = { key, body: { task: 'marked' }, headers: { 'x-sync': 'true' } };
    const { body } = await h.request('POST', `/invoke/${agent.id}`, call);
    expect(body.data).toMatchObject({ status: 'completed', result: 'whole', cost: '0.02' });
  });

  it('a cheaper answer: the difference goes back on chain, the agent gains exactly the cost', async () => {
    agent.behave(answerWith(200, { result: 'cheap', cost: '0.02' }));
    const { key } = await h.newAccount();
    const wallet = await h.newWallet(50_000n);
    const before = await earned();
    const call = { key, body: { task: 'cheap' } };
    const headers = await payV2(h, wallet, await h.request('POST', `/invoke/${agent.id}`, call));
    const { body } = await h.request('POST', `/invoke/${agent.id}`, { ...call, headers });
    expect(body.data).toMatchObject({ status: 'completed', cost: '0.02', refund: '0.03' });
    expect(await untilUsdc(h, wallet.address, 30_000n)).toBe(30_000n);
    expect((await earned()) - before).toBe(20_000n);
  });
});

describe('an agent that is gone', () => {
  it('is tried at most three times, fails as unreachable, and the money is back', async () => {
    const gone = await startTestAgent(h, { owner, perRequest: '0.05' });
    const client = await newClient(h, '0.05');
    await gone.die();
    // What listens there now ends every connection before a request is read.
    let connections = 0;
    const stub = createServer((socket) => {
      connections += 1;
      socket.resetAndDestroy();
    });
    await new Promise<void>((resolve) => stub.listen(Number(new URL(gone.endpoint).port), '127.0.0.1', resolve));
    const { body } = await h.request('POST', `/invoke/${gone.id}`, {
      key: client.key,
      body: { task: 'x' },
      headers: { 'x-sync': 'true' },
    });
    expect(body.data).toMatchObject({ status: 'failed', refund: '0.05', error: { code: 'agent_unreachable' } });
    expect(connections).toBeGreaterThanOrEqual(1);
    expect(await balanceOf(h, client.key)).toEqual({ available: '0.05', held: '0.00' });
    await new Promise((resolve) => stub.close(resolve));
  });
});
