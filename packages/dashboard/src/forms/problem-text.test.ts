import { AgentRegistration } from '@agent-network/contracts/agents/agents';
import { expect, it } from 'vitest';
import { problemText } from './problem-text.ts';

const textsOf = (body: unknown) =>
  Object.fromEntries(
    (AgentRegistration.safeParse(body).error?.issues ?? []).map((issue) => [issue.path.join('.'), problemText(issue)]),
  );

it('says what is wrong in words for who typed it', () => {
  const rates = { perRequest: 'x' };
  expect(
    textsOf({ name: '', capabilities: [], rates, endpoint: 'x', metadata: { maxConcurrency: Number.NaN } }),
  ).toEqual({
    name: 'is required',
    capabilities: 'needs at least 1',
    'rates.perRequest': 'must be a decimal USDC amount with at most 6 decimals, no sign, no exponent',
    endpoint: 'must be an http(s) URL',
    'metadata.maxConcurrency': 'must be a number',
  });
  const upstream = { headers: { 'not a name': 'a' } };
  expect(
    textsOf({ name: 'a', capabilities: ['a'], rates: { perRequest: '1' }, endpoint: 'http://a.test', upstream }),
  ).toEqual({
    'upstream.headers.not a name': 'is not a header name',
  });
  const long = { description: 'x'.repeat(3000), metadata: { maxConcurrency: 0 } };
  expect(textsOf({ capabilities: ['a'], rates: { perRequest: '1' }, endpoint: 'http://a.test', ...long })).toEqual({
    name: 'is required',
    description: 'must be at most 2000 characters',
    'metadata.maxConcurrency': 'must be at least 1',
  });
});
