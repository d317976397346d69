import type { SpendingLimits as WireLimits } from '@agent-network/contracts/access/access';
import type { Scope } from '@agent-network/contracts/access/scopes';
import { formatUsdc, parseUsdc } from '@agent-network/contracts/money';
import { AppError, invalid } from '../lib/app-error.ts';
import type { KnownCaller, SpendingLimits } from './caller.ts';

/** The unit in which daily spending is counted: a key and its successors after rolling. */
export interface Budget {
  readonly budgetId: string;
  readonly perDayMicro: bigint;
}

/** Name of a budget in a HeldUpError. */
export const budgetName = (budgetId: string): string => `budget:${budgetId}`;

export const noLimits: SpendingLimits = { perCallMicro: null, perDayMicro: null, allowedAgents: null };

export const isLimited = (limits: SpendingLimits): boolean =>
  limits.perCallMicro !== null || limits.perDayMicro !== null || limits.allowedAgents !== null;

/** Scopes by which a key could lift its own limit. */
const LIFTING_SCOPES: readonly Scope[] = ['keys:manage', 'payments:withdraw', 'operator'];

/** True for a key that cannot get around limits of its own. */
export const canLimit = (scopes: readonly Scope[]): boolean => !LIFTING_SCOPES.some((scope) => scopes.includes(scope));

/** Parses the limits of a new key. Throws VALIDATION_ERROR when its scopes would let it get around them. */
export function readLimits(
  wire: { readonly [L in keyof WireLimits]?: WireLimits[L] | undefined } | undefined,
  scopes: readonly Scope[],
): SpendingLimits {
  const micro = (amount: string | null | undefined) => (amount == null ? null : parseUsdc(amount));
  const allowedAgents = wire?.allowedAgents == null ? null : [...new Set(wire.allowedAgents)];
  const limits = { perCallMicro: micro(wire?.perCall), perDayMicro: micro(wire?.perDay), allowedAgents };
  const lifting = LIFTING_SCOPES.find((scope) => scopes.includes(scope));
  if (isLimited(limits) && lifting)
    throw invalid('limits', `cannot be set on a key with the scope "${lifting}", which gets around them`);
  return limits;
}

export const toWireLimits = ({ perCallMicro, perDayMicro, allowedAgents }: SpendingLimits): WireLimits => ({
  perCall: perCallMicro === null ? null : formatUsdc(perCallMicro),
  perDay: perDayMicro === null ? null : formatUsdc(perDayMicro),
  allowedAgents: allowedAgents === null ? null : [...allowedAgents],
});

/**
 * Throws SPENDING_LIMIT_EXCEEDED when the caller's key may not invoke this agent, or not at this price, regardless of today's spending. The
 * daily budget is checked when the call is accepted.
 */
export function requireWithinLimits(caller: KnownCaller, agentId: string, priceMicro: bigint): void {
  if (caller.kind !== 'account') return;
  const { perCallMicro, perDayMicro, allowedAgents } = caller.limits;
  if (allowedAgents && !allowedAgents.includes(agentId))
    throw exceeded('allowedAgents', 'This API key may not invoke this agent.', null);
  if (perCallMicro !== null && priceMicro > perCallMicro)
    throw exceeded('perCall', `This API key may spend ${formatUsdc(perCallMicro)} USDC on a call.`, perCallMicro);
  if (perDayMicro !== null && priceMicro > perDayMicro) throw dayExceeded(perDayMicro);
}

/** The error for a price above the rest of the key's daily budget. */
export const dayExceeded = (remainingMicro: bigint): AppError =>
  exceeded(
    'perDay',
    `This API key may spend ${formatUsdc(remainingMicro)} USDC more today (until midnight UTC).`,
    remainingMicro,
  );

const exceeded = (limit: keyof WireLimits, message: string, allowedMicro: bigint | null) =>
  new AppError('SPENDING_LIMIT_EXCEEDED', message, {
    details: { limit, allowed: allowedMicro === null ? null : formatUsdc(allowedMicro) },
  });

/** The budget of a caller's calls; null: no daily limit. */
export function budgetOf(caller: KnownCaller): Budget | null {
  if (caller.kind !== 'account' || caller.limits.perDayMicro === null) return null;
  return { budgetId: caller.budgetId, perDayMicro: caller.limits.perDayMicro };
}
