import { createHmac, randomBytes } from 'node:crypto';
import { afterEach, describe, expect, it } from 'vitest';
import { signAsNode } from '../../test/support/sign-as-node.ts';
import { AgentError } from './agent-error.ts';
import type { HandleCall } from './run-call.ts';
import { type ServeAgentOptions, type ServedAgent, serveAgent } from './serve-agent.ts';

const identityToken = `0x${randomBytes(32).toString('hex')}`;
const served: ServedAgent[] = [];
afterEach(async () => {
  await Promise.all(served.splice(0).map((agent) => agent.close()));
});

async function serve(handle: HandleCall, more: Partial<ServeAgentOptions> = {}): Promise<ServedAgent> {
  const agent = await serveAgent({ handle, identityToken, closeTimeoutMs: 1_000, ...more });
  served.push(agent);
  return agent;
}

let count = 0;
const callBody = (more: object = {}) => {
  count += 1;
  return { request_id: `inv_${count}`, agent_id: 'agt_1', task: 'do it', input: { a: 1 }, ...more };
};
const post = (url: string, body: unknown, headers?: Record<string, string>, signal?: AbortSignal) => {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  return fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...(headers ?? signAsNode(text, identityToken)) },
    body: text,
    ...(signal ? { signal } : {}),
  });
};

describe('a served agent', () => {
  it('gives the call to handle and answers with the result as the contract has it', async () => {
    const agent = await serve(({ task, input, requestId, priority }) => ({ task, input, requestId, priority }));
    const body = callBody({ request_id: 'inv_x', priority: 'high', deadline: '2099-01-01T00:00:00Z' });
    const answer = await post(agent.url, body);
    expect(answer.status).toBe(200);
    expect(await answer.json()).toEqual({
      result: { task: 'do it', input: { a: 1 }, requestId: 'inv_x', priority: 'high' },
      completion_time: expect.stringMatching(/^\d+\.\d\ds$/),
      agent_id: 'agt_1',
    });
  });

  it('tells handle the capability that a call names, whose types its result has to fit', async () => {
    const agent = await serve(({ capability }) => capability);
    const [named, plain] = [callBody({ capability: 'keywords' }), callBody()];
    expect(await (await post(agent.url, named)).json()).toMatchObject({ result: 'keywords' });
    expect(await (await post(agent.url, plain)).json()).toMatchObject({ result: null });
  });

  it('answers with the usage that handle states last', async () => {
    const units = [{ unit: 'page', quantity: 3 }];
    const agent = await serve(({ used }) => {
      used({ prompt_tokens: 1 });
      used({ units, model: 'm' });
    });
    expect(await (await post(agent.url, callBody())).json()).toMatchObject({ usage: { units, model: 'm' } });
  });

  it('answers with the cost that handle states', async () => {
    const agent = await serve((call) => call.charge('0.02'));
    expect(await (await post(agent.url, callBody())).json()).toMatchObject({ result: null, cost: '0.02' });
  });

  it('answers a verification challenge for the address it was called at, or for the endpoint it was given', async () => {
    const expected = (endpoint: string) =>
      createHmac('sha256', Buffer.from(identityToken, 'utf8')).update(`c0ffee\nagt_1\n${endpoint}`).digest('hex');
    const challenge = { type: 'verification', agent_id: 'agt_1', challenge: 'c0ffee' };
    const plain = await serve(() => null);
    expect(await (await post(`${plain.url}a/b?c=d`, challenge)).json()).toEqual({
      agent_id: 'agt_1',
      response: expected(`${plain.url}a/b?c=d`),
    });
    const proxied = await serve(() => null, { endpoint: 'https://agent.example/run' });
    expect(await (await post(proxied.url, challenge)).json()).toMatchObject({
      response: expected('https://agent.example/run'),
    });
  });

  const body = JSON.stringify(callBody());
  const good = signAsNode(body, identityToken);
  it.each([
    ['without a signature', {}],
    ['signed with another token', signAsNode(body, `0x${'1'.repeat(64)}`)],
    ['signed for another body', signAsNode(`${body} `, identityToken)],
    ['signed six minutes ago', signAsNode(body, identityToken, new Date(Date.now() - 360_000))],
    ['signed six minutes ahead', signAsNode(body, identityToken, new Date(Date.now() + 360_000))],
    ['with another id than was signed', { ...good, 'webhook-id': 'msg_other' }],
    ['with a malformed timestamp', { ...good, 'webhook-timestamp': 'now' }],
    ['with an empty signature', { ...good, 'webhook-signature': '' }],
  ])('refuses a call %s, and runs nothing', async (_name, headers) => {
    let runs = 0;
    const agent = await serve(() => {
      runs += 1;
    });
    const answer = await post(agent.url, body, headers);
    expect(answer.status).toBe(401);
    expect(await answer.json()).toMatchObject({ error: { code: 'unauthorized' } });
    expect(runs).toBe(0);
  });

  it('refuses a verification challenge of a stranger', async () => {
    const agent = await serve(() => null);
    expect((await post(agent.url, { type: 'verification', agent_id: 'agt_1', challenge: 'x' }, {})).status).toBe(401);
  });

  it('accepts a signature that stands beside another, as while a secret is rotated', async () => {
    const agent = await serve(() => 'done');
    const headers = { ...good, 'webhook-signature': `v1,AAAA ${good['webhook-signature']}` };
    expect((await post(agent.url, body, headers)).status).toBe(200);
  });

  it('runs a request once, however often and with whatever Idempotency-Key it is sent', async () => {
    let runs = 0;
    const started = Promise.withResolvers<void>();
    const goOn = Promise.withResolvers<void>();
    const agent = await serve(async () => {
      runs += 1;
      started.resolve();
      await goOn.promise;
      return { run: runs };
    });
    const text = JSON.stringify(callBody());
    const first = post(agent.url, text);
    await started.promise;
    const second = post(agent.url, text, { ...signAsNode(text, identityToken), 'idempotency-key': 'another' });
    goOn.resolve();
    const answers = await Promise.all([first, second, post(agent.url, text)].map(async (sent) => (await sent).text()));
    expect(runs).toBe(1);
    expect(new Set(answers).size).toBe(1);
  });

  it('shows an AgentError to the caller', async () => {
    const agent = await serve(() => {
      throw new AgentError('no_text', 'Send some text', 400);
    });
    const answer = await post(agent.url, callBody());
    expect(answer.status).toBe(400);
    expect(await answer.json()).toEqual({ error: { code: 'no_text', message: 'Send some text' } });
  });

  it('keeps any other error to itself', async () => {
    const errors: unknown[] = [];
    const agent = await serve(() => Promise.reject(new Error('password is hunter2')), {
      onError: (error) => errors.push(error),
    });
    const answer = await post(agent.url, callBody());
    expect(answer.status).toBe(500);
    expect(await answer.text()).not.toContain('hunter2');
    expect(String(errors[0])).toContain('hunter2');
  });

  it('answers at the deadline and aborts the work', async () => {
    const aborted = Promise.withResolvers<unknown>();
    let hasBegun = false;
    const agent = await serve(({ signal }) => {
      hasBegun = true;
      signal.addEventListener('abort', () => aborted.resolve(signal.reason));
      return new Promise(() => undefined);
    });
    // On a machine that is busy, a short deadline passes before the call arrives.
    for (let leftMs = 50; !hasBegun; leftMs *= 4) {
      const deadline = new Date(Date.now() + leftMs).toISOString();
      const answer = await post(agent.url, callBody({ deadline }));
      expect(answer.status).toBe(504);
      expect(await answer.json()).toMatchObject({ error: { code: 'deadline_exceeded' } });
    }
    expect(await aborted.promise).toMatchObject({ code: 'deadline_exceeded' });
  });

  it('aborts the work when the caller hangs up', async () => {
    const started = Promise.withResolvers<void>();
    const aborted = Promise.withResolvers<void>();
    const agent = await serve(
      ({ signal }) =>
        new Promise((_resolve, reject) => {
          signal.addEventListener('abort', () => {
            aborted.resolve();
            reject(signal.reason);
          });
          started.resolve();
        }),
    );
    const hangUp = new AbortController();
    const sent = post(agent.url, callBody(), undefined, hangUp.signal).catch(() => undefined);
    await started.promise;
    hangUp.abort();
    await aborted.promise;
    await sent;
  });

  it.each([
    ['no JSON', '{', 400],
    ['no object', '[]', 400],
    ['no task', { request_id: 'inv_1', agent_id: 'agt_1' }, 400],
    ['no request id', { task: 'x', agent_id: 'agt_1' }, 400],
    ['a body above the cap', JSON.stringify({ task: 'x'.repeat(1_100_000) }), 413],
  ])('refuses %s', async (_name, sent, status) => {
    const agent = await serve(() => null);
    const answer = await post(agent.url, sent);
    expect(answer.status).toBe(status);
    expect(await answer.json()).toMatchObject({ error: { code: expect.any(String), message: expect.any(String) } });
  });

  it('fails a result above 1 MiB itself', async () => {
    const agent = await serve(() => 'x'.repeat(1_048_577));
    expect(await (await post(agent.url, callBody())).json()).toMatchObject({ error: { code: 'result_too_large' } });
  });

  it('answers GET as a sign of life and refuses other methods', async () => {
    const agent = await serve(() => null);
    expect((await fetch(agent.url)).status).toBe(200);
    expect((await fetch(agent.url, { method: 'PUT' })).status).toBe(405);
  });

  it('lets a running call finish when it closes', async () => {
    const started = Promise.withResolvers<void>();
    const goOn = Promise.withResolvers<string>();
    const agent = await serve(() => {
      started.resolve();
      return goOn.promise;
    });
    const sent = post(agent.url, callBody());
    await started.promise;
    const closed = agent.close();
    goOn.resolve('finished');
    expect(await (await sent).json()).toMatchObject({ result: 'finished' });
    await closed;
    await expect(fetch(agent.url)).rejects.toThrow();
  });

  it('closes in time although a call never ends, and aborts it', async () => {
    const started = Promise.withResolvers<AbortSignal>();
    const agent = await serve(
      ({ signal }) => {
        started.resolve(signal);
        return new Promise(() => undefined);
      },
      { closeTimeoutMs: 20 },
    );
    const sent = post(agent.url, callBody()).catch(() => 'cut');
    const signal = await started.promise;
    await agent.close();
    expect(signal.aborted).toBe(true);
    expect(await sent).toBe('cut');
  });

  it('lets calls wait for a token that is still to come', async () => {
    const token = Promise.withResolvers<string>();
    const agent = await serve(() => 'done', { identityToken: token.promise });
    const sent = post(agent.url, callBody());
    token.resolve(identityToken);
    expect((await sent).status).toBe(200);
  });

  it('does not start without anything to tell the node from a stranger', async () => {
    await expect(serveAgent({ handle: () => null })).rejects.toThrow('identityToken or registerWith');
  });

  const noTokens = ['', '0x', 'my-token', `0x${'1'.repeat(63)}g`, `0x${'1'.repeat(66)}`];

  it.each(noTokens)('does not start with "%s", which is no token: strangers could sign with it', async (token) => {
    const started = serve(() => null, { identityToken: token });
    await expect(started).rejects.toThrow(TypeError);
  });

  it.each(noTokens)('refuses calls with the token "%s"', async (token) => {
    let runs = 0;
    const heard: unknown[] = [];
    const agent = await serve(() => (runs += 1), {
      identityToken: Promise.resolve(token),
      onError: (error) => void heard.push(error),
    });
    const text = JSON.stringify(callBody());
    expect((await post(agent.url, text, signAsNode(text, token))).status).toBe(500);
    expect(heard).toEqual([expect.any(TypeError)]);
    expect(runs).toBe(0);
  });
});
