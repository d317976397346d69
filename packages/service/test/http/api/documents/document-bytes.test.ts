import { gunzipSync } from 'node:zlib';
import { request } from 'undici';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { fixedClock } from '../../../support/fixed-clock.ts';
import { type Harness, startHarness } from '../../../support/harness.ts';

let h: Harness;
const clock = fixedClock(new Date());

beforeAll(async () => {
  h = await startHarness({ clock, env: { DOCUMENT_BYTES_PER_MINUTE: '2000000' } });
});
afterAll(() => h.stop());

/** As it stands on the wire: nothing is unpacked. */
async function get(path: string, headers: Record<string, string> = {}) {
  const { statusCode, headers: got, body } = await request(h.baseUrl + path, { headers });
  return { status: statusCode, headers: got, bytes: Buffer.from(await body.arrayBuffer()) };
}

it('an address that was sent a minute’s bytes of documents is refused until the next; compressed they cost a tenth, known ones nothing', async () => {
  const packed = await get('/openapi.json', { 'accept-encoding': 'br, gzip' });
  expect(packed.headers).toMatchObject({ 'content-encoding': 'gzip', vary: 'Accept-Encoding' });
  const plain = await get('/openapi.json');
  expect(plain.headers['content-encoding']).toBeUndefined();
  expect(gunzipSync(packed.bytes).equals(plain.bytes)).toBe(true);
  expect(packed.bytes.length * 5).toBeLessThan(plain.bytes.length);
  expect(packed.headers.etag).not.toBe(plain.headers.etag);
  const known = { 'accept-encoding': 'gzip', 'if-none-match': String(packed.headers.etag) };
  for (let time = 0; time < 50; time++) expect((await get('/openapi.json', known)).status).toBe(304);

  let sent = packed.bytes.length + plain.bytes.length;
  for (let answer = plain; answer.status === 200 && sent < 6_000_000; ) {
    answer = await get('/openapi.json');
    if (answer.status === 200) sent += answer.bytes.length;
  }
  expect(sent).toBeGreaterThanOrEqual(2_000_000);
  expect(sent).toBeLessThan(2_000_000 + plain.bytes.length);
  const refused = await get('/docs');
  expect(refused.status).toBe(429);
  expect(refused.headers['retry-after']).toBe('60');
  expect(JSON.parse(refused.bytes.toString()).error.details).toEqual({
    limit: 2_000_000,
    type: 'documentBytes',
    retryAfterS: 60,
  });
  expect((await get('/livez')).status).toBe(200);
  clock.advance(60_000);
  expect((await get('/docs')).status).toBe(200);
});
