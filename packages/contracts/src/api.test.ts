import { describe, expect, it } from 'vitest';
import { api } from './api.ts';
import { commonErrors, type Endpoint } from './endpoint.ts';
import { errorCatalogue } from './errors.ts';

const rows = Object.entries(api) as [string, Endpoint][];

describe('the endpoint table', () => {
  it('declares each method and path once, whatever its parameters are called', () => {
    const calls = rows.map(([, row]) => `${row.method} ${row.path.replace(/\{\w+\}/g, '{}')}`);
    expect(new Set(calls).size).toBe(calls.length);
  });

  it.each(rows)('%s has a schema for exactly the parameters of its path', (_name, row) => {
    const inPath = [...row.path.matchAll(/\{(\w+)\}/g)].map((match) => match[1]);
    expect(Object.keys(row.params?.shape ?? {})).toEqual(inPath);
  });

  it.each(rows)('%s requires a key if it requires a scope, and lists each error once', (_name, row) => {
    if (row.scope) expect(row.auth).toBe('key');
    const errors = [...commonErrors(row), ...row.errors];
    expect(new Set(errors).size).toBe(errors.length);
    for (const code of errors) expect(Object.keys(errorCatalogue)).toContain(code);
  });

  it('has a payment that is not confirmed yet among the errors of cancelling, which waits for it', () => {
    expect(api.cancelInvocation.errors).toContain('PAYMENT_PENDING');
  });

  it.each(rows)('%s sends a body only with a method that has one, and names headers in lower case', (_name, row) => {
    if (row.body) expect(['POST', 'PUT']).toContain(row.method);
    for (const header of Object.keys(row.headers?.shape ?? {})) expect(header).toBe(header.toLowerCase());
  });
});

describe('the error catalogue', () => {
  it.each([
    ['PAYMENT_REQUIRED', 402],
    ['INSUFFICIENT_FUNDS', 422],
    ['AGENT_UNAVAILABLE', 503],
    ['VALIDATION_ERROR', 400],
    ['UNAUTHORIZED', 401],
    ['NOT_FOUND', 404],
    ['RATE_LIMITED', 429],
    ['INTERNAL_ERROR', 500],
  ] as const)('%s is %i, as the specification has it', (code, status) =>
    expect(errorCatalogue[code].status).toBe(status),
  );
});
