import { once } from 'node:events';
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { offlineReason } from '../../../../src/agents/health/offline-reason.ts';
import { askDatabase } from '../../../support/books.ts';
import { fixedClock } from '../../../support/fixed-clock.ts';
import { type Harness, startHarness, type TestAccount } from '../../../support/harness.ts';
import { untilStatus } from '../../../support/test-agent.ts';
import { until } from '../../../support/until.ts';

const SECRET = 'credentials-of-the-owner';
const clock = fixedClock(new Date());
let h: Harness;
let owner: TestAccount;
const servers: Server[] = [];
beforeAll(async () => {
  h = await startHarness({ clock });
  owner = await h.newAccount();
});
afterAll(async () => {
  for (const server of servers) {
    server.close();
    server.closeAllConnections();
  }
  await h.stop();
});

interface Site {
  readonly id: string;
  readonly identityToken: string;
  readonly posts: number;
  readonly server: Server;
}

/** An agent that meets no challenge. `isProven`: a file on its origin proves it. */
async function startSite(answer: RequestListener, { isProven }: { isProven: boolean }): Promise<Site> {
  const known = { id: '', identityToken: '', posts: 0 };
  const server = createServer((request, response) => {
    if (request.method === 'POST') known.posts++;
    if (!request.url?.startsWith('/.well-known')) return void answer(request, response);
    response.end(isProven ? JSON.stringify({ registrations: [{ agentId: known.id }] }) : '{}');
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  servers.push(server);
  const { body } = await h.request('POST', '/agents', {
    key: owner.key,
    body: {
      ...{ name: 'Site', capabilities: ['x'], rates: { perRequest: '0' } },
      endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}/agent`,
      upstream: { headers: { authorization: `Bearer ${SECRET}` } },
    },
  });
  Object.assign(known, { id: body.data.id, identityToken: body.data.identityToken });
  // A check on demand that ends first leaves none of the registration due.
  if (!isProven) await until(async () => known.posts || null);
  await h.request('POST', '/identity/verify', { key: owner.key, body: { agentId: known.id, proof: 'endpoint' } });
  if (isProven) await untilStatus(h, known.id, 'online');
  return Object.assign(known, { server });
}

const own = async ({ id }: Site) =>
  (await h.request('GET', `/account/agents?agentId=${id}`, { key: owner.key })).body.data.agents[0];
const heartbeat = (site: Site, body: object) =>
  h.request('POST', `/agents/${site.id}/heartbeat`, { key: site.identityToken, body });

/** Three probes, by us or by the node's own round. */
async function untilOffline(site: Site): Promise<void> {
  const isOffline = async () => {
    clock.advance(73_000);
    await h.ctx.agentChecks.run();
    return (await own(site)).status === 'offline';
  };
  await until(isOffline);
}

describe('the reason for which an agent takes no calls', () => {
  it("is shown to its owner with status, time and beginning of the answer, without control characters and the owner's secrets", async () => {
    const site = await startSite(
      (request, response) => {
        const text = `<b>No\u202e\u001b[1m database</b>\r\n${request.headers.authorization} ${'x'.repeat(900)}`;
        response.writeHead(request.method === 'GET' ? 500 : 404).end(text);
      },
      { isProven: true },
    );
    expect((await own(site)).offline).toBeNull();
    await untilOffline(site);
    const { offline, verification } = await own(site);
    expect(offline).toMatchObject({
      ...{ reason: 'The endpoint answered with status 500.', status: 500, at: verification.lastCheckAt },
      body: expect.stringMatching(/^<b>No \[1m database<\/b> \*\*\* x+…$/),
      advice: expect.stringContaining('log of the server'),
    });
    expect(offline.body).toHaveLength(201);
    const shown = JSON.stringify((await h.request('GET', `/agents/${site.id}`)).body);
    expect(shown).not.toContain('database');
    expect(JSON.stringify(await own(site))).not.toContain(SECRET);
  });

  it('is that nothing answers', async () => {
    const site = await startSite((_, response) => void response.end('{}'), { isProven: true });
    site.server.close();
    site.server.closeAllConnections();
    await untilOffline(site);
    expect((await own(site)).offline).toMatchObject({
      ...{
        status: null,
        body: null,
        reason: 'No program answers at this address on this machine.',
      },
      advice: 'Start the program that serves this address.',
    });
  });

  it('is the missing proof, with the status and nothing else of the answer: the endpoint may be a stranger', async () => {
    const site = await startSite((_, response) => void response.writeHead(403).end('inside of a stranger'), {
      isProven: false,
    });
    expect((await own(site)).offline).toMatchObject({
      ...{ status: 403, body: null, reason: 'The endpoint answered the challenge with status 403.' },
      advice: expect.stringContaining('identityToken'),
    });
  });

  it('is that the agent reported it, also for one with an endpoint to prove again', () => {
    const checked = {
      endpoint: 'https://a.example',
      isAccepting: false,
      fault: null,
      faultDetail: null,
      lastPingAt: null,
    };
    const { reason } = offlineReason({ ...checked, status: 'pending_verification' }, null) ?? {};
    expect(reason).toBe('The agent reported that it does not accept calls.');
  });

  it('is that the agent said so', async () => {
    const site = await startSite((_, response) => void response.end('{}'), { isProven: true });
    await heartbeat(site, { accepting: false });
    expect((await own(site)).offline).toMatchObject({
      ...{
        reason: 'The agent reported that it does not accept calls.',
        advice: expect.stringContaining('"accepting": true'),
      },
    });
  });
});

it('the result of a check that began before the owner changed the credentials is not recorded', async () => {
  let isHeld = false;
  const [held, released] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const site = await startSite(
    async (request, response) => {
      const isOld = request.headers.authorization === `Bearer ${SECRET}`;
      if (!isHeld || !isOld) return void response.end('{}');
      held.resolve();
      await released.promise;
      response.writeHead(500).end();
    },
    { isProven: true },
  );
  isHeld = true;
  clock.advance(120_000);
  const checks = h.ctx.agentChecks.run();
  await held.promise;
  const body = { upstream: { headers: { authorization: 'Bearer credentials-that-are-new' } } };
  expect((await h.request('PUT', `/agents/${site.id}`, { key: owner.key, body })).status).toBe(200);
  released.resolve();
  await checks;
  await h.ctx.agentChecks.run();
  expect(await own(site)).toMatchObject({ status: 'online', fault: null });
});

it('a pending agent that shows its token in a heartbeat is challenged again, at most every five seconds', async () => {
  const site = await startSite((_, response) => void response.end('{}'), { isProven: false });
  const untilPosts = (count: number) => until(async () => site.posts >= count);
  // One at its registration and one on demand.
  expect(await untilPosts(2)).toBe(true);
  // Both are recorded before the time goes on: the later one tells when it was challenged last.
  const readDone = 'select id from agent where id = $1 and checks_done = 2';
  await until(async () => (await askDatabase(h.databaseUrl, readDone, [site.id])).length || null);
  clock.advance(6000);
  await heartbeat(site, {});
  expect(await untilPosts(3)).toBe(true);
  await until(async () => (await own(site)).verification.lastCheckAt === clock.now().toISOString());
  await heartbeat(site, {});
  await h.ctx.agentChecks.run();
  expect(site.posts).toBe(3);
});
