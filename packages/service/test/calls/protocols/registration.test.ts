import { setTimeout as sleep } from 'node:timers/promises';
import type { AgentProtocol } from '@agent-network/contracts/agents/upstream';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { checkUpstream } from '../../../src/agents/health/check-upstream.ts';
import { askDatabase } from '../../support/books.ts';
import { fixedClock } from '../../support/fixed-clock.ts';
import { type Harness, startHarness, type TestAccount } from '../../support/harness.ts';
import { untilStatus } from '../../support/test-agent.ts';
import { until } from '../../support/until.ts';
import { startWatch } from '../../support/watch.ts';
import { startA2aUpstream } from './support/a2a-upstream.ts';
import { schema, startMcpUpstream } from './support/mcp-upstream.ts';
import { startMipUpstream } from './support/mip-upstream.ts';
import { startOpenaiUpstream } from './support/openai-upstream.ts';
import { json, listUpstream, startUpstream, type TestUpstream } from './support/upstream.ts';

const MIB = 1024 * 1024;
const SECRET = 'Bearer sk-very-secret-9876543210';
const clock = fixedClock(new Date());
let h: Harness;
let owner: TestAccount;
let site: TestUpstream;
beforeAll(async () => {
  h = await startHarness({ clock });
  owner = await h.newAccount();
  site = await startOpenaiUpstream();
});
afterAll(async () => {
  await site.stop();
  await h.stop();
});

const register = (changes: Record<string, unknown>) =>
  h.request('POST', '/agents', {
    key: owner.key,
    body: {
      name: 'Listed',
      capabilities: ['x'],
      rates: { perRequest: '0.05' },
      endpoint: site.endpoint,
      protocol: 'openai',
      upstream: { model: 'test-model-1' },
      ...changes,
    },
  });
const update = (id: string, body: unknown) => h.request('PUT', `/agents/${id}`, { key: owner.key, body });
const own = async (id: string) =>
  (await h.request('GET', `/account/agents?agentId=${id}`, { key: owner.key })).body.data.agents[0];
const sealed = async (id: string) =>
  (
    await askDatabase<{ it: Buffer | null }>(
      h.databaseUrl,
      'select upstream_headers_sealed as it from agent where id = $1',
      [id],
    )
  )[0]?.it;

describe('a registration is refused', () => {
  it.each([
    ['in an unknown protocol', { protocol: 'gopher' }, 'protocol'],
    ['of a chat endpoint without a model', { upstream: {} }, 'upstream.model'],
    ['with a tool for a protocol that has none', { upstream: { model: 'm', tool: 't' } }, 'upstream.tool'],
    ['with a model for a protocol that has none', { protocol: 'http', upstream: { model: 'm' } }, 'upstream.model'],
    ...[
      ...['Host', 'content-length', 'Content-Type', 'Connection', 'Transfer-Encoding', 'Cookie', 'Idempotency-Key'],
      ...['X-Forwarded-For', 'X-Payment', 'Sec-Fetch-Site', 'Webhook-Signature', 'Accept-Encoding'],
    ].map((name) => [
      `with the header ${name}`,
      { upstream: { model: 'm', headers: { [name]: 'x' } } },
      `upstream.headers.${name}`,
    ]),
    ...(
      [
        ['a body for a protocol that has none', { body: '{}' }, 'body', 'openai'],
        ['a body of a GET', { method: 'GET', body: '{}' }, 'body'],
        ['a body that is no JSON', { body: '{"text": {{task}}}' }, 'body'],
        ['a misspelt placeholder', { body: '{"text":"{{tsk}}"}' }, 'body'],
        ['an unfinished path', { path: '/a/{{input/' }, 'path'],
        ['a path that leaves the endpoint', { path: '/../admin' }, 'path'],
        ['a result that is no pointer', { result: 'slug' }, 'result'],
        ['a placeholder in a header', { headers: { 'X-Text': '{{task}}' } }, 'headers.X-Text'],
      ] as [string, Record<string, unknown>, string, string?][]
    ).map(([name, upstream, field, protocol = 'http-template']) => [
      `as a template with ${name}`,
      { protocol, upstream: { ...(protocol === 'openai' ? { model: 'm' } : {}), ...upstream } },
      `upstream.${field}`,
    ]),
    ['with a header twice', { upstream: { model: 'm', headers: { 'X-A': '1', 'x-a': '2' } } }, 'upstream.headers.x-a'],
    [
      'with a line break in a header',
      { upstream: { model: 'm', headers: { 'X-A': 'a\r\nHost: b' } } },
      'upstream.headers.X-A',
    ],
    ['with a header name that is none', { upstream: { model: 'm', headers: { 'X A': 'a' } } }, 'upstream.headers.X A'],
    [
      'that keeps a value that is not stored',
      { upstream: { model: 'm', headers: { 'X-A': '***' } } },
      'upstream.headers.X-A',
    ],
    [
      'with too many headers',
      { upstream: { model: 'm', headers: Object.fromEntries(Array.from({ length: 17 }, (_, n) => [`x-${n}`, 'a'])) } },
      'upstream.headers',
    ],
    [
      'with too long headers',
      { upstream: { model: 'm', headers: { a: 'x'.repeat(4096), b: 'x'.repeat(4096) } } },
      'upstream.headers',
    ],
  ] as [string, Record<string, unknown>, string][])('%s', async (_name, changes, path) => {
    const { status, body } = await register(changes);
    expect(status).toBe(400);
    expect(body.error.details.fields.map((field: { path: string }) => field.path)).toContain(path);
    expect(JSON.stringify(body)).not.toContain('xxxxxxxx');
  });
});

describe('headers of an owner', () => {
  it('are sealed, rotated by an update, kept by ***, removed, and never read back', async () => {
    const { id } = await listUpstream(h, site, { owner, headers: { Authorization: SECRET, 'X-Team': 'blue' } });
    expect((await sealed(id))?.toString('latin1')).not.toContain('secret');
    expect(await own(id)).toMatchObject({ upstream: { headers: { Authorization: '***', 'X-Team': '***' } } });

    site.seen.length = 0;
    const kept = await update(id, { upstream: { headers: { authorization: '***', 'X-Team': 'green' } } });
    expect(kept.body.data.updated).toEqual(['upstream']);
    const isAsked = async () => site.seen.length > 0;
    await until(isAsked);
    expect(site.seen.at(-1)?.headers).toMatchObject({ authorization: SECRET, 'x-team': 'green' });

    await update(id, { upstream: { headers: {} } });
    expect(await sealed(id)).toBeNull();
    expect((await own(id)).upstream).toEqual({ tool: null, model: 'test-model-1', headers: {} });
    const rows = await askDatabase(h.databaseUrl, 'select * from idempotency');
    expect(JSON.stringify(rows)).not.toContain('very-secret');
  });

  it('do not follow the endpoint to another origin, whoever moves it', async () => {
    const { id } = await listUpstream(h, site, { owner, headers: { Authorization: SECRET } });
    const thief = await startOpenaiUpstream();
    const refused = await update(id, { endpoint: thief.endpoint });
    expect([refused.status, refused.body.error.details.fields[0].path]).toEqual([400, 'upstream.headers']);
    const hidden = await update(id, { endpoint: thief.endpoint, upstream: { headers: { Authorization: '***' } } });
    expect(hidden.status).toBe(400);
    const given = await update(id, { endpoint: thief.endpoint, upstream: { headers: { 'X-New': 'new' } } });
    expect(given.body.data.updated).toEqual(['endpoint', 'upstream']);
    thief.named.push(id);
    await h.request('POST', '/identity/verify', { key: owner.key, body: { agentId: id, proof: 'endpoint' } });
    expect(thief.seen.length).toBeGreaterThan(0);
    expect(JSON.stringify(thief.seen)).not.toContain('very-secret');
    await thief.stop();
  });
});

describe('the state of an endpoint', () => {
  it('a new protocol has to be proven; what is called changes without', async () => {
    const { id } = await listUpstream(h, site, { owner });
    await update(id, { upstream: { model: 'another' } });
    expect((await own(id)).status).toBe('online');
    site.named.length = 0;
    await update(id, { protocol: 'http', upstream: { model: null } });
    expect(await own(id)).toMatchObject({
      status: 'pending_verification',
      protocol: 'http',
      upstream: { model: null },
    });
  });

  it('a missing model is reported at the proof, and the agent is offline', async () => {
    const { id } = await listUpstream(h, site, { owner });
    await update(id, { upstream: { model: 'gone' } });
    await untilStatus(h, id, 'offline');
    expect((await own(id)).fault).toBe('GET /models does not list the model "gone". It lists another, test-model-1.');
    await update(id, { upstream: { model: 'another' } });
    await h.request('POST', '/identity/verify', { key: owner.key, body: { agentId: id, proof: 'endpoint' } });
    expect(await own(id)).toMatchObject({ status: 'online', fault: null });
  });

  it.each([
    ['redirects', 302, 'The endpoint answered with a redirect, which is not followed.'],
    [
      'refuses the credentials',
      401,
      'GET /models is refused with status 401: upstream.headers may lack valid credentials.',
    ],
    ['is something else', 404, 'GET /models returned status 404.'],
  ])(
    'an upstream that %s takes its agent offline at once, with the reason for its owner alone',
    async (_name, status, fault) => {
      const { id } = await listUpstream(h, site, { owner });
      site.down = status;
      clock.advance(120_000);
      await h.ctx.agentChecks.run();
      site.down = null;
      expect(await own(id)).toMatchObject({ status: 'offline', fault });
      expect(JSON.stringify((await h.request('GET', `/agents/${id}`)).body)).not.toContain(fault);
      const called = await h.request('POST', `/invoke/${id}`, { key: owner.key, body: { task: 'x' } });
      expect(called.body.error.code).toBe('AGENT_UNAVAILABLE');
    },
  );

  it.each([
    [
      'openai',
      () => startOpenaiUpstream(),
      '/v1/models',
      { status: 500, text: '{"error":{"message":"out \\u0000of \\ud800order"}}' },
      /status 500 \(out of order\)/,
    ],
    [
      'openai',
      () => startOpenaiUpstream(),
      '/v1/models',
      { status: 500, text: '{"error":{"message":{"toString":1}}}' },
      /status 500/,
    ],
    [
      'mip-003',
      startMipUpstream,
      '/masumi/availability',
      { status: 200, text: '{"status":"a\\u0000\\u202eb"}' },
      /but "a b"/,
    ],
    [
      'a2a',
      startA2aUpstream,
      '/agent/.well-known/agent-card.json',
      {
        status: 200,
        text: '{"supportedInterfaces":[{"url":"/agent/rpc","protocolBinding":"JSONRPC","protocolVersion":{"toString":1}}]}',
      },
      /has no interface that this node can call/,
    ],
    [
      'mcp',
      () => startMcpUpstream({ isOld: true }),
      '/mcp',
      {
        status: 200,
        text: '{"jsonrpc":"2.0","id":"initialize","result":{"protocolVersion":"2025-11-25"}}',
        headers: { 'mcp-session-id': 'caf\u00e9' },
      },
      /session id/,
    ],
  ] as const)(
    'an endpoint of %s whose answer no table would take is offline all the same',
    async (_name, start, path, odd, fault) => {
      const server = await start();
      const { id } = await listUpstream(h, server, { owner });
      server.odd.set(path, odd);
      for (let nth = 0; nth < 4; nth++) {
        clock.advance(120_000);
        await h.ctx.agentChecks.run();
      }
      expect(await own(id)).toMatchObject({ status: 'offline', fault: expect.stringMatching(fault) });
      await server.stop();
    },
  );

  it('an endpoint that answers slowly, and without end, keeps no other waiting', async () => {
    let isSlow = false;
    const slow = await startUpstream(() => ({
      protocol: 'mcp',
      path: '/mcp',
      isWork: () => false,
      async answer({ body }, _request, response) {
        const tools = isSlow ? [] : [{ name: 'one', inputSchema: { type: 'object' } }];
        if (isSlow) await sleep(1000);
        const result = { supportedVersions: ['2026-07-28'], tools, ...(isSlow ? { nextCursor: 'more' } : {}) };
        if (!response.destroyed) json(response, 200, { jsonrpc: '2.0', id: body.id, result });
      },
    }));
    await listUpstream(h, slow, { owner });
    const quick = await startOpenaiUpstream();
    await listUpstream(h, quick, { owner });
    isSlow = true;
    slow.seen.length = 0;
    clock.advance(120_000);
    await until(async () => slow.seen.length > 0);
    quick.seen.length = 0;
    // A check of it that was under way when the clock moved sets the next one from where the clock is then: it is moved again.
    await until(async () => {
      clock.advance(10_000);
      return quick.seen.length > 0;
    });
    isSlow = false;
    await slow.stop();
    await quick.stop();
  });

  it('a file of proofs that no text can be made of proves nothing, and is answered', async () => {
    const server = await startOpenaiUpstream();
    const body = {
      name: 'Odd',
      capabilities: ['x'],
      rates: { perRequest: '0.05' },
      endpoint: server.endpoint,
      protocol: 'openai',
      upstream: { model: 'test-model-1' },
    };
    const { id } = (await h.request('POST', '/agents', { key: owner.key, body })).body.data;
    const here = { agentRegistry: h.ctx.registry && `eip155:${h.ctx.registry.chainId}:${h.ctx.registry.address}` };
    server.registrations.push(
      { ...here, agentId: { toString: 1 } },
      { ...here, agentId: '9'.repeat(78) },
      { agentId: { toString: 1 } },
    );
    const verified = await h.request('POST', '/identity/verify', {
      key: owner.key,
      body: { agentId: id, proof: 'endpoint' },
    });
    expect(verified).toMatchObject({
      status: 200,
      body: { data: { reason: expect.stringContaining('No proof was found') } },
    });
    await server.stop();
  });

  it('a tool that takes something else than it did takes its agent offline, until its owner proves it again', async () => {
    const server = await startMcpUpstream();
    const { id } = await listUpstream(h, server, { owner });
    const check = async () => {
      clock.advance(120_000);
      await h.ctx.agentChecks.run();
    };
    schema.properties = { task: { type: 'string', description: 'Explained anew.' } };
    await check();
    expect(await own(id)).toMatchObject({ status: 'online', fault: null });
    schema.properties = { task: { type: 'number' } };
    await check();
    expect(await own(id)).toMatchObject({ status: 'offline', fault: expect.stringContaining('changed the schema') });
    await h.request('POST', '/identity/verify', { key: owner.key, body: { agentId: id, proof: 'endpoint' } });
    expect(await own(id)).toMatchObject({ status: 'online', fault: null });
    await update(id, { upstream: { tool: 'gone' } });
    await untilStatus(h, id, 'offline');
    expect((await own(id)).fault).toBe('tools/list does not list the tool "gone".');
    await server.stop();
  });

  it('an agent that stops publishing its types for a while is still checked against the last ones', async () => {
    const server = await startMipUpstream();
    const { id } = await listUpstream(h, server, { owner });
    const answer = async (status: number, body: object) => {
      server.odd.set('/masumi/input_schema', { status, text: JSON.stringify(body) });
      clock.advance(120_000);
      await h.ctx.agentChecks.run();
    };
    await answer(404, {});
    expect(await own(id)).toMatchObject({ status: 'online', fault: null });
    await answer(200, { input_data: [{ id: 'other', type: 'number' }] });
    expect(await own(id)).toMatchObject({ status: 'offline', fault: expect.stringContaining('changed the schema') });
    await server.stop();
  });

  it('a server that goes on listing tools is asked for four megabytes of them, not for more', async () => {
    let pages = 0;
    const server = await startUpstream(() => ({
      protocol: 'mcp',
      path: '/mcp',
      isWork: () => false,
      async answer({ body }, _request, response) {
        const isList = body?.method === 'tools/list';
        if (isList) pages += 1;
        const tool = { name: `tool-${pages}`, description: 'x'.repeat(900_000), inputSchema: { type: 'object' } };
        const result = isList ? { tools: [tool], nextCursor: String(pages) } : { supportedVersions: ['2026-07-28'] };
        json(response, 200, { jsonrpc: '2.0', id: body?.id, result });
      },
    }));
    const target = { endpoint: server.endpoint, protocol: 'mcp', tool: 'wanted', model: null, template: null } as const;
    const upstream = { ...target, agentId: 'agt_any', headers: {} };
    const { fault } = await checkUpstream(h.ctx, upstream);
    expect(fault?.message).toBe('tools/list returned more than 4 MiB of tools.');
    expect(pages).toBe(5);
    await server.stop();
  });

  it.each([
    ['on another origin', 'http://127.0.0.2:9/rpc'],
    ['beside its own address', '/other/rpc'],
  ])('a card that names an interface %s is refused: it speaks for no other address', async (_name, url) => {
    const server = await startUpstream(() => ({
      protocol: 'a2a',
      path: '/agent',
      isWork: () => false,
      answer: (_seen, _request, response) =>
        json(response, 200, { supportedInterfaces: [{ url, protocolBinding: 'JSONRPC', protocolVersion: '1.0' }] }),
    }));
    const { id } = await listUpstream(h, server, { owner, awaited: 'offline' });
    expect((await own(id)).fault).toContain("is not below the card's own address");
    await server.stop();
  });

  const card = (url: string) =>
    JSON.stringify({ supportedInterfaces: [{ url, protocolBinding: 'JSONRPC', protocolVersion: '1.0' }] });
  it.each<[string, AgentProtocol, number, string, string]>([
    ['a megabyte of carriage returns', 'mcp', 200, 'text/event-stream', '\r'.repeat(MIB)],
    ['a megabyte of lines that mean nothing', 'mcp', 200, 'text/event-stream', 'x\n'.repeat(MIB / 2)],
    ['a card with a row of slashes', 'a2a', 200, 'application/json', card(`/it${'/'.repeat(100_000)}rpc`)],
    ['a megabyte in which a thousand secrets are looked for', 'openai', 400, 'text/plain', 'a'.repeat(MIB)],
  ])('an answer that is slow to parse does not block the process: %s', async (_what, protocol, status, type, text) => {
    const server = await startUpstream(() => ({
      protocol,
      path: '/it',
      isWork: () => false,
      answer: (_seen, _request, response) => void response.writeHead(status, { 'content-type': type }).end(text),
    }));
    const secrets = 'aaaaab '.repeat(580).trim();
    const upstream = {
      agentId: 'agt_any',
      endpoint: server.endpoint,
      protocol,
      tool: 't',
      model: 'm',
      template: null,
      headers: { a: secrets, b: secrets },
    };
    const tookMs = startWatch();
    await checkUpstream(h.ctx, upstream);
    expect(tookMs()).toBeLessThan(2000);
    expect(server.seen.length).toBeGreaterThan(0);
    await server.stop();
  });
});
