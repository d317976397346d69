import fc from 'fast-check';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { MAX_STREAMS } from '../../../src/events/outbox/live-events.ts';
import { emit } from '../../../src/events/outbox/outbox.ts';
import { problemWithError } from '../../http/api/support/expect-error.ts';
import { openBrowser } from '../../support/browser.ts';
import { beforeDeadline } from '../../support/deadline.ts';
import type { Harness, TestAccount } from '../../support/harness.ts';
import { startWatch } from '../../support/watch.ts';
import { joinNode, startJoinableHarness } from '../stream/support/second-node.ts';
import { openSse } from '../stream/support/sse-client.ts';

let h: Harness;
beforeAll(async () => {
  h = await startJoinableHarness();
});
afterAll(() => h.stop());

/** Without what only operators hear of. */
const newAccount = () => h.newAccount({ scopes: ['webhooks:manage', 'keys:manage'] });

let nth = 0;
/** Something happens to an account; answers its number. */
async function happen({ accountId }: TestAccount): Promise<number> {
  nth += 1;
  const data = { id: `agt_${nth}`, unregistered: true, finalBlock: nth };
  await h.ctx.db.transaction((tx) =>
    emit(tx, [{ type: 'agent.removed', accountId, subjectId: data.id, data }], new Date()),
  );
  return nth;
}
const numberOf = (event: { data: { data: { finalBlock: number } } } | null) => event?.data.data.finalBlock;
const open = (
  host: { baseUrl: string },
  { key }: { key: string },
  path = '/events',
  headers: Record<string, string> = {},
) => openSse(host, 'GET', path, { key, headers });

describe('the live stream of an account', () => {
  it('begins now, tells what happens from then on as GET /events does, and nothing of other accounts', async () => {
    const [account, other] = [await newAccount(), await newAccount()];
    await happen(account);
    const stream = await open(h, account);
    const first = await stream.next();
    expect(first).toMatchObject({ type: 'stream.open', data: { after: first?.id } });
    await happen(other);
    const told = await happen(account);
    const event = await stream.next();
    expect(numberOf(event)).toBe(told);
    const { events } = (await h.request('GET', `/events?after=${first?.id}`, { key: account.key })).body.data;
    expect(events).toEqual([event?.data]);
    expect(event).toMatchObject({ id: events[0].sequence, type: 'agent.removed' });
  });

  it('misses nothing that happens after GET /auth/session, behind the number that it tells', async () => {
    const browser = await openBrowser(h);
    const { session, eventsAt } = (await browser.request('GET', '/auth/session')).body.data;
    await happen({ ...session, key: '' });
    const { events } = (await browser.request('GET', `/events?after=${eventsAt}`)).body.data;
    expect(events.map((data: unknown) => numberOf({ data } as Parameters<typeof numberOf>[0]))).toEqual([nth]);
    expect((await h.request('GET', '/auth/session')).body.data.eventsAt).toBeNull();
  });

  it('without the Accept header the same call answers with JSON', async () => {
    const account = await newAccount();
    const { body, headers } = await h.request('GET', '/events', { key: account.key });
    expect(headers.get('content-type')).toBe('application/json');
    expect(body.data).toEqual({ events: [], hasMore: false, next: 0 });
  });

  it('tells of the type asked for only, from the place asked for', async () => {
    const account = await newAccount();
    const all = [await happen(account), await happen(account)];
    const stream = await open(h, account, '/events?after=0&type=agent.removed');
    expect((await stream.take(3)).slice(1).map(numberOf)).toEqual(all);
    const none = await open(h, account, '/events?after=0&type=agent.online');
    await none.next();
    await happen(account);
    expect(numberOf(await stream.next())).toBe(nth);
    await h.request('DELETE', `/account/keys/${await keyIdOf(account)}`, { key: account.key });
    expect(await none.rest()).toEqual([]);
  });

  it('of one type comes back for as long as it likes: what is removed of other types is no gap', async () => {
    const account = await newAccount();
    await happen(account);
    await happen(account);
    const list = async () => (await h.request('GET', '/events', { key: account.key })).body.data.events;
    await expect.poll(async () => (await list()).length).toBe(2);
    const [first, last] = await list();
    const comeBack = (id: number) => open(h, account, '/events?type=agent.online', { 'last-event-id': `${id}` });
    const place = Number((await (await comeBack(first.sequence)).next())?.id);
    expect(place).toBeGreaterThanOrEqual(last.sequence);
    const removed = 'insert into event_horizon (account_id, sequence) values ($1, $2)';
    await h.ctx.db.query('remove', removed, [account.accountId, last.sequence]);
    await expect(comeBack(first.sequence)).rejects.toThrow('410');
    expect((await (await comeBack(place)).next())?.type).toBe('stream.open');
  });

  it('goes on after the lastEventId of a polyfill, and begins anew with an empty Last-Event-ID', async () => {
    const account = await newAccount();
    const first = await happen(account);
    const second = await happen(account);
    const list = async (query: string) =>
      (await h.request('GET', `/events${query}`, { key: account.key })).body.data.events;
    await expect.poll(async () => (await list('')).length).toBe(2);
    const [{ sequence }] = await list('');
    const after = await open(h, account, `/events?after=0&lastEventId=${sequence}`);
    expect((await after.take(2)).slice(1).map(numberOf)).toEqual([second]);
    expect((await list(`?lastEventId=${sequence}`)).length).toBe(1);
    const anew = await open(h, account, '/events', { 'last-event-id': '' });
    await anew.next();
    const third = await happen(account);
    expect(numberOf((await anew.next()) as Parameters<typeof numberOf>[0])).toBe(third);
    expect(first).not.toBe(third);
  });

  it('tells of more than a page that was missed, in order', async () => {
    const account = await newAccount();
    const all: number[] = [];
    for (let i = 0; i < 120; i++) all.push(await happen(account));
    const stream = await open(h, account, '/events', { 'last-event-id': '0' });
    expect((await stream.take(121)).slice(1).map(numberOf)).toEqual(all);
  });

  it('says nothing behind a transaction that is still open, and everything in order once it has ended', async () => {
    const account = await newAccount();
    const stream = await open(h, account);
    await stream.next();
    const slow = new pg.Client(h.databaseUrl);
    await slow.connect();
    await slow.query('begin');
    await slow.query(
      `insert into event (sequence, id, account_id, type, subject_id, data, needs_fan_out, created_at)
       select (pg_current_xact_id()::text::bigint + xid_offset) * 4096, 'evt_slow', $1, 'agent.removed', 'agt_0',
              '{"id":"agt_0","unregistered":true,"finalBlock":0}', false, now() from event_clock`,
      [account.accountId],
    );
    const later = await happen(account);
    const early = stream.next();
    const listed = (await h.request('GET', '/events', { key: account.key })).body.data.events;
    expect(listed).toEqual([]);
    await slow.query('commit');
    await slow.end();
    expect(numberOf(await early)).toBe(0);
    expect(numberOf(await stream.next())).toBe(later);
  });

  it('loses nothing and tells nothing twice, whenever its connection breaks and whichever process it comes back to', async () => {
    const second = await joinNode(h);
    const hosts = [h, second];
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.tuple(fc.nat(3), fc.nat(3), fc.nat(1)), { minLength: 2, maxLength: 5 }),
        async (legs) => {
          const account = await newAccount();
          const told: number[] = [];
          const heard: (number | undefined)[] = [];
          let last: string | undefined;
          for (const [before, during, host] of legs) {
            if (last !== undefined) for (let i = 0; i < before; i++) told.push(await happen(account));
            const stream = await open(
              hosts[host] as Harness,
              account,
              '/events',
              last ? { 'last-event-id': last } : {},
            );
            last = String((await stream.next())?.id);
            for (let i = 0; i < during; i++) told.push(await happen(account));
            // It hangs up in the middle of what there is.
            for (const event of await stream.take(Math.ceil((told.length - heard.length) / 2))) {
              heard.push(numberOf(event));
              last = String(event.id);
            }
            await stream.hangUp();
          }
          const rest = await open(h, account, '/events', { 'last-event-id': last ?? '' });
          await rest.next();
          heard.push(...(await rest.take(told.length - heard.length)).map(numberOf));
          expect(heard).toEqual(told);
          await rest.hangUp();
        },
      ),
      { numRuns: 8 },
    );
  });
});

const keyIdOf = async ({ key }: TestAccount): Promise<string> =>
  (await h.request('GET', '/account/keys', { key })).body.data.keys[0].keyId;

describe('access to live events', () => {
  it.each(['here', 'by another process'])(
    'a stream ends within a second after its key was revoked %s',
    async (where) => {
      const account = await newAccount();
      const stream = await open(where === 'here' ? h : await joinNode(h), account);
      await stream.next();
      const tookMs = startWatch();
      await h.request('DELETE', `/account/keys/${await keyIdOf(account)}`, { key: account.key });
      expect(await stream.next()).toBeNull();
      expect(tookMs()).toBeLessThan(1000);
      await expect(open(h, account)).rejects.toThrow('401');
    },
  );

  it.each(['signed out', 'idle for 12 hours'])(
    'a page of the node listens by its session, until that is %s',
    async (how) => {
      const browser = await openBrowser(h);
      const headers = { cookie: browser.cookie(), 'sec-fetch-site': 'same-origin' };
      const stream = await openSse(h, 'GET', '/events', { headers });
      expect((await stream.next())?.type).toBe('stream.open');
      if (how === 'signed out') await browser.request('DELETE', '/auth/session');
      else {
        const { sessionId } = (await browser.request('GET', '/auth/session')).body.data.session;
        const ago = `now() - interval '12 hours'`;
        await h.ctx.db.query('age', `update api_key set last_used_at = ${ago}, created_at = ${ago} where id = $1`, [
          sessionId,
        ]);
      }
      const tookMs = startWatch();
      expect(await stream.next()).toBeNull();
      expect(tookMs()).toBeLessThan(1000);
    },
  );

  it('a stream ends when its key expires', async () => {
    const account = await newAccount();
    const stream = await beforeDeadline(700, async (expiresAt) => {
      const key = { name: 'short', scopes: ['webhooks:manage'], expiresAt };
      const { body } = await h.request('POST', '/account/keys', { key: account.key, body: key });
      return body.data ? open(h, { key: body.data.apiKey }).catch(() => null) : null;
    });
    await stream.next();
    expect(await stream.next()).toBeNull();
  });

  it('an account may have so many open, and one more when one was closed', async () => {
    const account = await newAccount();
    const streams = await Promise.all(Array.from({ length: MAX_STREAMS }, () => open(h, account)));
    const refused = await h.request('GET', '/events', { key: account.key, headers: { accept: 'text/event-stream' } });
    expect(problemWithError(refused, 'RATE_LIMITED')).toBeNull();
    await streams[0]?.hangUp();
    const again = async () => open(h, account).catch(() => null);
    let stream = await again();
    while (!stream) stream = await again();
    expect((await stream.next())?.type).toBe('stream.open');
  });
});
