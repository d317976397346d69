import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { fixedClock } from '../../../support/fixed-clock.ts';
import { type Harness, startHarness, type TestAccount } from '../../../support/harness.ts';
import { startTestAgent, type TestAgent } from '../../../support/test-agent.ts';
import { until } from '../../../support/until.ts';
import { expectError } from '../support/expect-error.ts';

const clock = fixedClock(new Date());
let h: Harness;
let owner: TestAccount;
const agents: TestAgent[] = [];
const servers: Server[] = [];
beforeAll(async () => {
  h = await startHarness({ clock });
  owner = await h.newAccount();
});
afterEach(async () => {
  await Promise.all(agents.splice(0).map((agent) => agent.die()));
  for (const server of servers.splice(0)) {
    server.close();
    server.closeAllConnections();
  }
});
afterAll(() => h.stop());

async function start(options: Parameters<typeof startTestAgent>[1] = {}): Promise<TestAgent> {
  const agent = await startTestAgent(h, { owner, ...options });
  agents.push(agent);
  return agent;
}

const read = async (id: string) => (await h.request('GET', `/agents/${id}`)).body.data;

describe('an endpoint proof', () => {
  /** An endpoint that answers everything in the same way, with a well-known file that a test fills in. */
  async function startSite(answerStatus: number): Promise<{ url: string; file: { text: string } }> {
    const file = { text: '' };
    const server = createServer((request, response) => {
      const isFile = request.url === '/.well-known/agent-registration.json';
      response.writeHead(isFile && file.text !== '' ? 200 : answerStatus, { 'content-type': 'application/json' });
      response.end(isFile ? file.text : '{}');
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    servers.push(server);
    return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/deep/agent?x=1`, file };
  }

  const register = async (endpoint: string) =>
    (
      await h.request('POST', '/agents', {
        key: owner.key,
        body: { name: 'Site', capabilities: ['x'], rates: { perRequest: '0' }, endpoint },
      })
    ).body.data.id;
  const verify = async (agentId: string) =>
    (await h.request('POST', '/identity/verify', { key: owner.key, body: { agentId, proof: 'endpoint' } })).body.data;

  it('can be a well-known file on the origin that names the agent', async () => {
    const site = await startSite(404);
    const id = await register(site.url);
    expect(await verify(id)).toMatchObject({
      verified: false,
      status: 'pending_verification',
      reason: expect.stringContaining('404'),
      by: null,
    });
    for (const text of [
      '{',
      '[]',
      'null',
      '{"registrations":{}}',
      '{"registrations":[null,5]}',
      '{"registrations":[{"agentId":"agt_other"}]}',
    ]) {
      site.file.text = text;
      expect((await verify(id)).verified).toBe(false);
    }
    site.file.text = JSON.stringify({ registrations: [{ agentId: 'agt_other' }, { agentId: id }] });
    expect(await verify(id)).toEqual({
      agentId: id,
      proof: 'endpoint',
      verified: true,
      status: 'online',
      reason: null,
      by: 'well-known',
    });
  });

  it('gives a reason that helps the owner and tells nothing of addresses', async () => {
    const site = await startSite(500);
    const answered = await verify(await register(site.url));
    expect(answered.reason).toBe('The endpoint answered the challenge with status 500.');
    const closedPort = await verify(await register('http://127.0.0.1:9/'));
    expect(closedPort).toMatchObject({ verified: false });
    expect(closedPort.reason).not.toMatch(/127|ECONN|refused|:9/);
  });

  it('is tried at once, after 1, 5 and 30 minutes, 2 and 12 hours, and then only on demand', async () => {
    const id = await register('http://127.0.0.1:9/');
    const row = async () =>
      (await h.ctx.db.pool.query('select checks_done as done, next_check_at as next from agent where id = $1', [id]))
        .rows[0];
    const untilDone = (done: number) =>
      until(async () => (await row()).done === done && (await row()).next !== undefined);
    for (const [index, minutes] of [1, 5, 30, 120, 720].entries()) {
      expect(await untilDone(index + 1)).toBe(true);
      expect(((await row()).next.getTime() - clock.now().getTime()) / 60_000).toBe(minutes);
      clock.advance(minutes * 60_000);
      await h.ctx.agentChecks.run();
    }
    expect(await untilDone(6)).toBe(true);
    expect((await row()).next).toBeNull();
    await verify(id);
    expect(await row()).toEqual({ done: 7, next: null });
  });

  it('of an agent of another account cannot be asked for', async () => {
    const agent = await start();
    const { key } = await h.newAccount();
    expectError(
      await h.request('POST', '/identity/verify', { key, body: { agentId: agent.id, proof: 'endpoint' } }),
      'FORBIDDEN',
    );
  });

  it('does not make the agent of an unproven wallet verified', async () => {
    const unproven = await h.newAccount({ isWalletProven: false });
    const agent = await start({ owner: unproven });
    expect(await read(agent.id)).toMatchObject({ online: true, verified: false });
  });
});
