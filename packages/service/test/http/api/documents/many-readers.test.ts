import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { ofTheDay } from '../../../support/daily.ts';
import { fixedClock } from '../../../support/fixed-clock.ts';
import { type Harness, startHarness } from '../../../support/harness.ts';
import { startTestAgent, type TestAgent } from '../../../support/test-agent.ts';
import { expectError } from '../support/expect-error.ts';

const LIMIT = 400;
const clock = fixedClock(new Date());
let h: Harness;
let agent: TestAgent;
beforeAll(async () => {
  h = await startHarness({ clock, env: { DOCUMENTS_PER_HOUR: String(LIMIT) } });
  agent = await startTestAgent(h);
});
afterEach(() => {
  vi.restoreAllMocks();
  clock.advance(3_600_000);
});
afterAll(async () => {
  await agent.die();
  await h.stop();
});

const get = (path: string, headers: Record<string, string> = {}) => h.request('GET', path, { headers });
const times = (count: number, path: string) => Promise.all(Array.from({ length: count }, () => get(path)));

/** How many queries of a name are made while something is done. */
async function queriesOf(names: readonly string[], run: () => Promise<unknown>): Promise<number> {
  const spy = vi.spyOn(h.ctx.db, 'query');
  await run();
  return spy.mock.calls.filter(([name]) => names.includes(name)).length;
}

describe('documents', () => {
  it.each([
    ['/openapi.json', 'public, max-age=300'],
    ['/docs', 'public, max-age=300'],
    ['/docs/style.css', 'public, max-age=300'],
    ['/llms.txt', 'public, max-age=300'],
    ['/.well-known/agent-network.json', 'public, max-age=15'],
  ])('%s is told once to whoever keeps it', async (path, cache) => {
    const first = await get(path);
    expect([first.status, first.headers.get('cache-control')]).toEqual([200, cache]);
    const etag = first.headers.get('etag') ?? '';
    expect(etag).toMatch(/^"[\w-]{27}(-gzip)?"$/);
    for (const known of [etag, `W/${etag}`, `"other", ${etag}`]) {
      const again = await get(path, { 'if-none-match': known });
      expect([again.status, again.body, again.headers.get('etag')]).toEqual([304, '', etag]);
    }
    expect((await get(path, { 'if-none-match': '"other"' })).status).toBe(200);
  });

  const counted = ofTheDay([
    '/docs',
    '/readyz',
    '/metrics',
    '/agents/agt_0123456789/registration.json',
    '/.well-known/agent-network.json',
    '/explore',
    '/sitemap.xml',
    '/agents/agt_0123456789/preview.png',
  ]);
  it.each(counted)('%s is counted by network address, together with the others, for an hour', async (path) => {
    // The cheapest of them first: a hundred of others take a second of processor time.
    const answers = [...(await times(LIMIT - 20, '/llms.txt')), ...(await times(40, path))];
    const refused = answers.filter(({ status }) => status === 429);
    expect(refused).toHaveLength(20);
    for (const answer of refused) {
      expectError(answer, 'RATE_LIMITED');
      const retryAfterS = Number(answer.headers.get('retry-after'));
      expect(answer.body.error.details).toEqual({ limit: LIMIT, type: 'documents', retryAfterS });
      expect(retryAfterS).toBe(3600);
    }
    expect((await get('/llms.txt')).status).toBe(429);
    expect([(await get('/livez')).status, (await get('/agents')).status]).toEqual([200, 200]);
    clock.advance(3_600_000);
    expect((await get('/llms.txt')).status).toBe(200);
  });

  it('files that pages load are counted as well', async () => {
    const byId = await get(`/agents/${agent.id}`, { accept: 'text/html' });
    const { body: page, headers } = await get(byId.headers.get('location') ?? '', { accept: 'text/html' });
    expect(headers.get('content-type')).toMatch(/^text\/html/);
    const named = [...String(page).matchAll(/(?:src|href)="(\/[^"?]+\.\w+)/g)].map(([, path = '']) => path);
    const paths = [...new Set([...named, '/favicon.ico', '/icon-512.png', '/icon-192.png'])];
    expect(paths).toEqual(
      expect.arrayContaining(['/pages/try/try-it.js', '/site.webmanifest', '/apple-touch-icon.png']),
    );
    expect(await Promise.all(paths.map(async (path) => (await get(path)).status))).not.toContain(429);
    await times(LIMIT, '/llms.txt');
    for (const path of paths) expect([path, (await get(path)).status]).toEqual([path, 429]);
  });

  it('a registration file is read once a second from the database, however many ask', async () => {
    const path = `/agents/${agent.id}/registration.json`;
    const queries = await queriesOf(['find-local-agent'], async () => {
      const answers = await times(100, path);
      expect(new Set(answers.map(({ headers }) => headers.get('etag'))).size).toBe(1);
    });
    expect(queries).toBeLessThanOrEqual(2);
    const missing = await queriesOf(['find-local-agent'], () =>
      times(100, '/agents/agt_00000000000000000000000000/registration.json'),
    );
    expect(missing).toBeLessThanOrEqual(2);
  });

  it('the OpenAPI document of an agent is read once a second, whatever query comes with it', async () => {
    const queries = await queriesOf(['find-agent'], async () => {
      const paths = Array.from({ length: 100 }, (_, n) => `/agents/${agent.id}/openapi.json?n=${n}`);
      const answers = await Promise.all(paths.map((path) => get(path)));
      const found = answers.map(({ status, headers }) => `${status} ${headers.get('etag')}`);
      expect([...new Set(found)]).toEqual([expect.stringMatching(/^200 "/)]);
    });
    expect(queries).toBeLessThanOrEqual(2);
  });
});

describe('readiness', () => {
  it('is checked once a second, however many ask', async () => {
    await expect.poll(async () => (await get('/readyz')).status).toBe(200);
    const queries = await queriesOf(['ready'], async () => {
      const answers = await times(300, '/readyz');
      expect(answers.every(({ status }) => status === 200)).toBe(true);
    });
    expect(queries).toBeLessThanOrEqual(2);
  });
});
