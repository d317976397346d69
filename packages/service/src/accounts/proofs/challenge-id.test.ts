import { expect, test } from 'vitest';
import { createSecrets } from '../../lib/secrets.ts';
import { type Challenge, challengeIdOf, digestOf, newNonce, readChallengeId } from './challenge-id.ts';

const secrets = createSecrets('s'.repeat(32));
const plain: Challenge = {
  purpose: 'sign-in',
  accountId: null,
  agentId: null,
  address: '0x8f3cf7ad23cd3cadbd9735aff958023239c6a063',
  termsDigest: null,
  issuedAt: new Date('2026-11-22T05:00:00.123Z'),
  nonce: newNonce(),
};
const kinds: Challenge[] = [
  plain,
  { ...plain, purpose: 'account', accountId: 'acc_1' },
  { ...plain, purpose: 'agent', accountId: 'acc_1', agentId: `agt_${'7z'.repeat(13)}` },
  { ...plain, purpose: 'withdrawal', accountId: 'acc_1', termsDigest: digestOf('{"amountMicro":"1"}') },
];

test.each(kinds)('the id of a challenge for $purpose carries all of it, for its account only', (challenge) => {
  const id = challengeIdOf(secrets, challenge);
  expect(id).toMatch(/^chl_[\w.-]{1,95}$/);
  expect(readChallengeId(secrets, challenge.accountId, id)).toEqual(challenge);
  expect(readChallengeId(secrets, 'acc_2', id)).toBe(null);
  expect(readChallengeId(createSecrets('t'.repeat(32)), challenge.accountId, id)).toBe(null);
});

test.each(kinds)('no character of the id of a challenge for $purpose can be another', (challenge) => {
  const id = challengeIdOf(secrets, challenge);
  for (let nth = 0; nth < id.length; nth++)
    for (const other of ['a', 'B', '0', '_', '.']) {
      const altered = id.slice(0, nth) + other + id.slice(nth + 1);
      if (altered !== id) expect(readChallengeId(secrets, challenge.accountId, altered)).toBe(null);
    }
  for (const altered of [id.slice(0, -1), `${id}A`, `${id}=`, '', 'chl_', 'chl_nobody', `${id}.x`])
    expect(readChallengeId(secrets, challenge.accountId, altered)).toBe(null);
});
