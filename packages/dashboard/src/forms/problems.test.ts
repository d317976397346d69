import { api } from '@agent-network/contracts/api';
import { InvocationRequest } from '@agent-network/contracts/invocations/invocations';
import { ApiError } from '@agent-network/sdk';
import { describe, expect, it } from 'vitest';
import { problemsOf, problemsToldBy } from './problems.ts';

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
