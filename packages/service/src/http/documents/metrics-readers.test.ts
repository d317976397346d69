import { Hono } from 'hono';
import { expect, it } from 'vitest';
import { AppError } from '../../lib/app-error.ts';
import { DatabaseAwayError } from '../../store/database-away.ts';
import type { HttpContext } from '../request/http-context.ts';
import { createMetricsReaders } from './documents.ts';

const away = new DatabaseAwayError(new Error('gone'), 'nothing', false);

it.each(['UNAUTHORIZED', 'FORBIDDEN'] as const)('a key reads on unless it is refused: %s', async (code) => {
  let failure: Error | null = null;
  const authenticate = async () => {
    if (failure) throw failure;
    return { kind: 'account', scopes: ['metrics:read'] };
  };
  let now = new Date('2026-11-26T10:00:00Z');
  const clock = { now: () => now };
  const mayRead = createMetricsReaders({ authenticator: { authenticate }, clock } as unknown as HttpContext);
  const app = new Hono().get('/metrics', async (c) => c.json(await mayRead(c)));
  const readAfter = async (error: Error | null) => {
    failure = error;
    return (await app.request('/metrics', { headers: { authorization: 'Bearer a-key' } })).json();
  };
  expect(await readAfter(away)).toBe(false);
  expect(await readAfter(null)).toBe(true);
  expect(await readAfter(away)).toBe(true);
  expect(await readAfter(new AppError('INTERNAL_ERROR', 'It failed.'))).toBe(true);
  expect(await readAfter(new AppError(code, 'No.'))).toBe(false);
  expect(await readAfter(away)).toBe(false);
  expect(await readAfter(null)).toBe(true);
  now = new Date('2026-11-27T09:59:00Z');
  expect(await readAfter(away)).toBe(true);
  now = new Date('2026-11-27T10:01:00Z');
  expect(await readAfter(away)).toBe(false);
});
