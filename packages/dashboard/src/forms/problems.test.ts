import { AgentRegistration } from '@agent-network/contracts/agents/agents';
import { api } from '@agent-network/contracts/api';
import { InvocationRequest } from '@agent-network/contracts/invocations/invocations';
import { ApiError } from '@agent-network/sdk';
import { describe, expect, it } from 'vitest';
import { problemsOf, problemsToldBy, problemText } from './problems.ts';

const paths = (problems: ReadonlyMap<string, string>) => [...problems.keys()].sort();

describe('problems found by a schema of the API, by path', () => {
  it.each([
    ['nothing', InvocationRequest, { task: 'a' }, []],
    ['a field that is missing', InvocationRequest, {}, ['task']],
    ['a field that is empty', InvocationRequest, { task: '' }, ['task']],
    [
      'several fields',
      InvocationRequest,
      { task: '', priority: 'soon', maxCost: 'x' },
      ['maxCost', 'priority', 'task'],
    ],
    ['a field inside', api.createApiKey.body, { name: 'a', limits: { perCall: 'x' } }, ['limits.perCall']],
    ['an entry of a list', api.createApiKey.body, { name: 'a', scopes: ['invoke', 'x'] }, ['scopes.1']],
    ['no body at all', InvocationRequest, 'text', ['']],
  ])('%s', (_what, schema, body, expected) => {
    expect(paths(problemsOf(schema, body))).toEqual(expected);
  });
});

const answer = (code: string, extra: object = {}) =>
  new ApiError({
    ...{ code, message: 'no', status: 400, extra, requestId: 'req_1', retryAfterS: undefined },
  } as never);

describe('problems found by the node', () => {
  it.each([
    [
      'of several at one field the first',
      answer('VALIDATION_ERROR', {
        details: {
          fields: [
            { path: 'name', message: 'is taken' },
            { path: 'name', message: 'is long' },
          ],
        },
      }),
      { name: 'is taken' },
    ],
    ['nothing of an error of another kind', answer('NOT_FOUND'), {}],
    ['nothing of what is no answer', new Error('gone'), {}],
  ])('%s', (_what, error, expected) => {
    expect(Object.fromEntries(problemsToldBy(error))).toEqual(expected);
  });
});

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
    capabilities: 'must have at least 1',
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
