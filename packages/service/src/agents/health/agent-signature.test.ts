import { createHmac } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { challengeResponse, isChallengeMet, signAgentCall } from './prove-endpoint.ts';

const token = `0x${'0a'.repeat(32)}`;

describe('the signature of a call', () => {
  const at = new Date('2026-11-21T10:00:00.999Z');

  it('is what Standard Webhooks says: v1, base64 HMAC-SHA256 over id, seconds and body, keyed by the bytes of the token', () => {
    const expected = createHmac('sha256', Buffer.alloc(32, 0x0a)).update('req_1.1795255200.{"a":1}').digest('base64');
    expect(signAgentCall(token, 'req_1', '{"a":1}', at)).toEqual({
      'webhook-id': 'req_1',
      'webhook-timestamp': '1795255200',
      'webhook-signature': `v1,${expected}`,
    });
  });

  it('changes with the id, the time, the body and the token', () => {
    const sign = (...args: Parameters<typeof signAgentCall>) => signAgentCall(...args)['webhook-signature'];
    const all = [
      sign(token, 'a', 'b', at),
      sign(token, 'x', 'b', at),
      sign(token, 'a', 'x', at),
      sign(token, 'a', 'b', new Date(0)),
      sign(`0x${'0b'.repeat(32)}`, 'a', 'b', at),
    ];
    expect(new Set(all).size).toBe(all.length);
  });
});

describe('the answer to a challenge', () => {
  const claim = { challenge: 'c', agentId: 'agt_1', endpoint: 'http://a/' };

  it('is hex HMAC-SHA256 over challenge, id and endpoint, keyed by the text of the token', () => {
    expect(challengeResponse(token, claim)).toBe(
      createHmac('sha256', token).update('c\nagt_1\nhttp://a/').digest('hex'),
    );
  });

  it('is met by itself in any case, and by nothing else', () => {
    const expected = challengeResponse(token, claim);
    expect(isChallengeMet(expected, expected)).toBe(true);
    expect(isChallengeMet(expected, expected.toUpperCase())).toBe(true);
    const others = [
      challengeResponse(token, { ...claim, endpoint: 'http://b/' }),
      '',
      'é'.repeat(64),
      expected.slice(1),
      `${expected}0`,
      null,
      undefined,
      5,
      {},
      [expected],
    ];
    for (const other of others) expect(isChallengeMet(expected, other)).toBe(false);
  });
});
