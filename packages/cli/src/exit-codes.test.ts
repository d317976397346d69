import { ApiError } from '@agent-network/sdk';
import { expect, it } from 'vitest';
import { failureOf } from './exit-codes.ts';

const apiError = (code: ApiError['code'], message: string, extra: object = {}) =>
  new ApiError({ code, message, status: 400, extra: extra as never, requestId: 'req_1', retryAfterS: undefined });

it.each([
  [apiError('PAYMENT_REQUIRED', 'Agent requires payment.'), 5, /agentnet deposit <amount>".*--pay x402/],
  [apiError('INSUFFICIENT_FUNDS', 'Too little.'), 5, /agentnet deposit <amount>"/],
  [apiError('NOT_FOUND', 'Agent not found.'), 1, /agentnet search"/],
  [apiError('UNAUTHORIZED', 'No key.'), 4, /agentnet login"/],
  [apiError('FORBIDDEN', 'It is not yours.'), 4, /yours\.$/],
  [
    apiError('FORBIDDEN', 'No.', { help: { docs: '/docs', command: 'agentnet login --wallet --scope x' } }),
    4,
    /--scope x$/,
  ],
  [apiError('NOT_FOUND', 'Request not found.'), 1, /not found\.$/],
])('%s ends with a code, and says what to do with this program', (error, exitCode, message) => {
  expect(failureOf(error)).toMatchObject({ exitCode, requestId: 'req_1', message: expect.stringMatching(message) });
});

it('problems of fields stand in the message once each', () => {
  const fields = [
    { path: 'task', message: 'is missing' },
    { path: 'tsk', message: 'is unknown' },
  ];
  const { message } = failureOf(
    apiError('VALIDATION_ERROR', 'Invalid request: task is missing.', { details: { fields } }),
  );
  expect(message).toBe('Invalid request: task is missing.\n  tsk: is unknown');
});
