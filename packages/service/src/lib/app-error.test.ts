import { errorCatalogue } from '@agent-network/contracts/errors';
import { expect, it } from 'vitest';
import { AppError, invalid, invalidFields, notFound } from './app-error.ts';

it('an error keeps its code, what stands beside it, and the cause that only the log sees', () => {
  const cause = new Error('secret');
  const error = new AppError(
    'INSUFFICIENT_FUNDS',
    'Too little.',
    { details: { required: '1', available: '0' } },
    { cause },
  );
  expect(error).toBeInstanceOf(Error);
  expect(error).toMatchObject({ name: 'AppError', code: 'INSUFFICIENT_FUNDS', message: 'Too little.', cause });
  expect(error.extra).toEqual({ details: { required: '1', available: '0' } });
});

it('a code that needs nothing beside it has nothing', () =>
  expect(new AppError('UNAVAILABLE', 'Later.').extra).toEqual({}));

it('a refusal repeats a bounded part of what was wrong', () => {
  const long = 'x'.repeat(1_000_000);
  const error = invalidFields(Array.from({ length: 1000 }, () => ({ path: long, message: long })));
  expect(JSON.stringify(error.extra).length + error.message.length).toBeLessThan(16_000);
  expect(invalid(long, long).message.length).toBeLessThan(1000);
});

it('a refusal says the first three problems, and how many more there are', () => {
  const problems = ['a', 'b', 'c', 'd', 'e'].map((path) => ({ path, message: 'is missing' }));
  expect(invalidFields(problems.slice(0, 2)).message).toBe('Invalid request: a is missing; b is missing.');
  expect(invalidFields(problems).message).toBe(
    'Invalid request: a is missing; b is missing; c is missing; and 2 more.',
  );
});

it('missing and invalid values are errors of the catalogue, in its shape', () => {
  expect(notFound('agent')).toMatchObject({ code: 'NOT_FOUND', message: expect.stringContaining('GET /agents') });
  expect(notFound('request')).toMatchObject({ code: 'NOT_FOUND', message: 'Request not found.' });
  const error = invalid('rates.perHour', 'is wrong');
  expect(error).toMatchObject({ code: 'VALIDATION_ERROR', message: 'Invalid request: rates.perHour is wrong.' });
  expect(errorCatalogue.VALIDATION_ERROR.extra.parse(error.extra)).toEqual({
    details: { fields: [{ path: 'rates.perHour', message: 'is wrong' }] },
  });
});
