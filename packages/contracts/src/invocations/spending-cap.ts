import type { z } from 'zod';
import { parseUsdc } from '../money.ts';

const capAliases = ['maxCost', 'max_cost', 'max_spend'] as const;

/** Folds the spec's aliases of the spending cap into `maxCost`; refuses different amounts, as the intended one is unknown. */
export function foldCap<T extends Partial<Record<(typeof capAliases)[number], string | undefined>>>(
  body: T,
  problems: z.core.$RefinementCtx,
): Omit<T, 'max_cost' | 'max_spend'> & { maxCost?: string | undefined } {
  const { max_cost: _snake, max_spend: _spend, ...rest } = body;
  const given = capAliases.flatMap((name) => (body[name] === undefined ? [] : [body[name]]));
  if (new Set(given.map(parseUsdc)).size > 1)
    problems.addIssue({ code: 'custom', path: ['maxCost'], message: 'maxCost and its aliases have different values' });
  return given[0] === undefined ? rest : { ...rest, maxCost: given[0] };
}
