import { createHmac, randomBytes } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { verifyWebhook, type WebhookMessage } from './webhooks.ts';

const newSecret = () => `whsec_${randomBytes(32).toString('base64')}`;
const secret = newSecret();
const now = new Date('2026-11-21T10:00:00Z');
const body = JSON.stringify({
  type: 'agent.online',
  timestamp: now.toISOString(),
  data: { id: 'agt_1', name: 'Żółw' },
});

function signed(secrets = [secret], text = body, at = now): Record<string, string> {
  const timestamp = String(at.getTime() / 1000);
  const signatures = secrets.map((each) => {
    const key = Buffer.from(each.slice('whsec_'.length), 'base64');
    return `v1,${createHmac('sha256', key).update(`evt_1.${timestamp}.${text}`).digest('base64')}`;
  });
  return { 'webhook-id': 'evt_1', 'webhook-timestamp': timestamp, 'webhook-signature': signatures.join(' ') };
}

const message = (more: Partial<WebhookMessage> = {}): WebhookMessage => ({
  secret,
  headers: signed(),
  body,
  now,
  ...more,
});
const reasonOf = (given: WebhookMessage) =>
  verifyWebhook(given).then(
    () => null,
    (error) => error.reason,
  );

describe('verifyWebhook', () => {
  it('gives the typed event of a delivery that the node signed', async () => {
    const event = await verifyWebhook(message({ headers: { ...signed(), 'webhook-sequence': '12' } }));
    if (event.type !== 'agent.online') throw new Error('another event');
    expect(event.data.name).toBe('Żółw');
    expect(event).toEqual({ ...JSON.parse(body), id: 'evt_1', sequence: 12 });
  });

  it('gives the address of a result that is too large for a delivery', async () => {
    const data = { requestId: 'req_1', resultUrl: 'https://node.example/invoke/req_1' };
    const large = JSON.stringify({ type: 'invocation.completed', timestamp: now.toISOString(), data });
    const event = await verifyWebhook(message({ body: large, headers: signed([secret], large) }));
    if (event.type !== 'invocation.completed') throw new Error('another event');
    expect([event.data.resultUrl, event.data.result]).toEqual([data.resultUrl, undefined]);
  });

  it('takes bytes as well as text, and headers in any of their forms', async () => {
    const bytes = new TextEncoder().encode(body);
    const headers = signed();
    const upper = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toUpperCase(), [value]]));
    for (const form of [headers, new Headers(headers), upper])
      expect((await verifyWebhook(message({ body: bytes, headers: form }))).id).toBe('evt_1');
  });

  it('verifies with the old and with the new secret while it is rotated', async () => {
    const [fresh, other] = [newSecret(), newSecret()];
    const headers = signed([fresh, secret]);
    expect(await reasonOf(message({ headers }))).toBeNull();
    expect(await reasonOf(message({ headers, secret: fresh }))).toBeNull();
    expect(await reasonOf(message({ headers, secret: other }))).toBe('wrong_signature');
  });

  const late = (seconds: number) => new Date(now.getTime() + seconds * 1000);
  it.each([
    ['a changed body', 'wrong_signature', { body: `${body} ` }],
    ['another id', 'wrong_signature', { headers: { ...signed(), 'webhook-id': 'evt_2' } }],
    [
      'another time',
      'wrong_signature',
      { headers: { ...signed(), 'webhook-timestamp': String(now.getTime() / 1000 + 1) } },
    ],
    ['another secret', 'wrong_signature', { secret: newSecret() }],
    ['another scheme', 'wrong_signature', { headers: { ...signed(), 'webhook-signature': 'v1a,AAAA v1,%%% v1,' } }],
    ['an age of over five minutes', 'outside_tolerance', { now: late(301) }],
    ['a time that is over five minutes ahead', 'outside_tolerance', { now: late(-301) }],
    ['no headers', 'missing_headers', { headers: {} }],
    ['a time that is no number', 'missing_headers', { headers: { ...signed(), 'webhook-timestamp': 'now' } }],
    ['an empty secret', 'malformed_secret', { secret: 'whsec_' }],
    ['a secret that is no base64', 'malformed_secret', { secret: 'whsec_%' }],
    ['a signed body that is no event', 'malformed_body', { body: '[]', headers: signed([secret], '[]') }],
  ])('refuses %s', async (_name, reason, change) => {
    expect(await reasonOf(message(change))).toBe(reason);
  });

  it('accepts messages of up to five minutes, or of the given tolerance', async () => {
    expect(await reasonOf(message({ now: late(300) }))).toBeNull();
    expect(await reasonOf(message({ now: late(11), toleranceS: 10 }))).toBe('outside_tolerance');
  });
});
