import { errorCatalogue, errorEnvelope } from '@agent-network/contracts/errors';
import { describe, expect, it } from 'vitest';
import { AppError, invalid, notFound } from '../../lib/app-error.ts';
import { toErrorAnswer } from './errors.ts';

describe('the answer to a failure', () => {
  it.each([new Error('password=hunter2'), new TypeError('x'), 'text', null, undefined, { code: 'NOT_FOUND' }])(
    'that is not of the catalogue is a 500 that says nothing: %s',
    (error) => {
      const { status, body } = toErrorAnswer(error, 'req_1');
      expect(status).toBe(500);
      expect(body).toEqual({
        status: 'error',
        error: {
          code: 'INTERNAL_ERROR',
          message: expect.stringMatching(/^Something went wrong on our side, .* once under the same Idempotency-Key/),
          requestId: 'req_1',
        },
      });
    },
  );

  it.each([
    notFound('agent'),
    invalid('a', 'is wrong'),
    new AppError('FORBIDDEN', 'No.', {}, { cause: new Error('secret') }),
  ])('of the catalogue has its status, its envelope and nothing of its cause: %s', (error) => {
    const { status, headers, body } = toErrorAnswer(error, 'req_1');
    expect(status).toBe(errorCatalogue[error.code].status);
    expect(errorEnvelope(error.code).parse(body)).toEqual(body);
    expect(JSON.stringify(body)).not.toContain('secret');
    expect(headers).toEqual({});
  });

  it('of a lack of money or of a right says how to get it', () => {
    const details = { required: '1.00', available: '0.00' };
    const errors = [
      new AppError('INSUFFICIENT_FUNDS', 'No.', { details }),
      new AppError('INSUFFICIENT_BALANCE', 'No.', { details }),
      new AppError('UNAUTHORIZED', 'No.'),
      new AppError('FORBIDDEN', 'No.'),
    ];
    for (const error of errors)
      expect(toErrorAnswer(error, 'req_1').body).toMatchObject({
        error: { help: { page: expect.stringMatching(/^\/dashboard\//), docs: expect.stringMatching(/^\/docs\//) } },
      });
  });

  it.each<[AppError, number, number]>([
    [new AppError('UNAVAILABLE', 'Later.'), 5, 10],
    [new AppError('PAYMENT_PENDING', 'Wait.', { details: { requestId: 'req_1', transactionHash: null } }), 2, 2],
    [new AppError('AGENT_UNAVAILABLE', 'Gone.', { agentId: 'agt_1', lastSeen: '', alternatives: [] }), 30, 45],
    [new AppError('RATE_LIMITED', 'Slow.', { details: { limit: 1, type: 'api', retryAfterS: 77 } }), 77, 77],
  ])('that passes says when to come back, not to all at the same time: %s', (error, least, most) => {
    const waits = Array.from({ length: 300 }, () => Number(toErrorAnswer(error, 'req_1').headers['retry-after']));
    expect([Math.min(...waits), Math.max(...waits)]).toEqual([least, most]);
    expect(new Set(waits).size).toBe(most - least + 1);
  });
});
