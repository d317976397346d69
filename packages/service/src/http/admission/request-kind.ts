import { priorities } from '@agent-network/contracts/invocations/invocations';

/** Order in which requests of an account start; `low` starts only when no account has another request. */
export const ranks = ['write', 'high', 'normal', 'low'] as const;

export type RequestKind = 'free' | 'write' | 'invocation';

const INVOCATIONS = /^\/(invoke|x402|mcp|a2a|v1|agents\/[^/?]+\/mcp)(?=[/?]|$)/;
/** Cancellations end work; searches read, although they are POSTs. */
const FREE = /^\/(invoke\/[^/?#]+\/cancel|agents\/search|ard\/v1\/(search|explore))(\?|$)/;

/** `free`: never waits to be started. */
export function kindOf(method: string | undefined, url: string | undefined): RequestKind {
  if (method === 'GET' || method === 'HEAD' || method === 'OPTIONS') return 'free';
  const path = url ?? '';
  if (FREE.test(path)) return 'free';
  return INVOCATIONS.test(path) ? 'invocation' : 'write';
}

export interface Urgency {
  readonly priority: 'high' | 'normal' | 'low';
  readonly deadlineMs: number | null;
}

const asDefault: Urgency = { priority: 'normal', deadlineMs: null };
/** A longer body is not looked into: that would cost as much as refusing saves. */
export const MAX_BYTES = 16 * 1024;

/**
 * Priority and deadline of an invocation, from its body or from the arguments of an MCP tool. Malformed values are left to the handler to
 * refuse.
 */
export function askedBy(body: Buffer | null): Urgency {
  if (!body || body.length > MAX_BYTES || !(body.includes('"priority"') || body.includes('"deadline"')))
    return asDefault;
  try {
    const value = JSON.parse(body.toString());
    const { priority, deadline } = value?.params?.arguments ?? value ?? {};
    const atMs = typeof deadline === 'string' ? Date.parse(deadline) : Number.NaN;
    return {
      priority: priorities.includes(priority) ? priority : 'normal',
      deadlineMs: Number.isNaN(atMs) ? null : atMs,
    };
  } catch {
    return asDefault;
  }
}
