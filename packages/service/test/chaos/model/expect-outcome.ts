import { stringify } from 'fast-check';
import { until } from '../../../src/lib/concurrency/until.ts';
import { WAIT_MS } from '../../support/until.ts';
import type { ModelRun } from './model-run.ts';
import { type MoneyModel, type Operation, outcomesOf, type Reply } from './money-model.ts';
import { differences, readSeen, type Seen } from './seen.ts';

/** One of the ways in which operations may go: what each was answered, and where all money is then. */
export interface Way {
  readonly replies: readonly Reply[];
  readonly model: MoneyModel;
}

/** Possible outcomes of an operation. Effects on the agent's side or on chain appear soon after the answer. */

export const waysOf = (model: MoneyModel, operation: Operation): Way[] =>
  outcomesOf(model, operation).map((outcome) => ({ replies: [outcome.reply], model: outcome.model }));

/**
 * Two operations at the same moment: as if the steps of one had come before, between or after those of the other. Replies stand in
 * the order in which the operations are given.
 */
export function waysOfBoth(model: MoneyModel, first: Operation, second: Operation): Way[] {
  const ways = interleaved(model, stepsOf(first), stepsOf(second)).map((way) => ({
    replies: [...way.first, ...way.second],
    model: way.model,
  }));
  const isSameEnd = first.kind === 'cancel' && second.kind === 'cancel' && first.ref === second.ref;
  if (!isSameEnd) return ways;
  // Who sees it end, and end as was asked for, need not know whose doing it was.
  return ways.flatMap((way) => (way.replies.includes('done') ? [way, { ...way, replies: ['done', 'done'] }] : [way]));
}

/** A call holds its price first, and later ends: in between others find the money held. */
const stepsOf = (operation: Operation): Operation[] =>
  operation.kind === 'invoke' && operation.end
    ? [
        { ...operation, end: null },
        { kind: 'answer', ref: operation.ref, end: operation.end },
      ]
    : [operation];

interface Interleaved {
  readonly first: readonly Reply[];
  readonly second: readonly Reply[];
  readonly model: MoneyModel;
}

/** The reply to an operation is that to its first step. */
function interleaved(
  model: MoneyModel,
  first: readonly Operation[],
  second: readonly Operation[],
  replies: Pick<Interleaved, 'first' | 'second'> = { first: [], second: [] },
): Interleaved[] {
  const [one, ...ones] = first;
  const [other, ...others] = second;
  if (!one && !other) return [{ ...replies, model }];
  const byFirst = one ? outcomesOf(model, one) : [];
  const bySecond = other ? outcomesOf(model, other) : [];
  const replied = (before: readonly Reply[], reply: Reply) => (before.length === 0 ? [reply] : before);
  return [
    ...byFirst.flatMap((outcome) =>
      interleaved(outcome.model, ones, second, { ...replies, first: replied(replies.first, outcome.reply) }),
    ),
    ...bySecond.flatMap((outcome) =>
      interleaved(outcome.model, first, others, { ...replies, second: replied(replies.second, outcome.reply) }),
    ),
  ];
}

/** Waits until users and chain see what one of the ways leads to; answers where that leaves the money. Throws when none is seen. */
export async function expectOneOf(run: ModelRun, ways: readonly Way[], replies: readonly Reply[]): Promise<MoneyModel> {
  const possible = ways.filter((way) => String(way.replies) === String(replies));
  if (possible.length === 0)
    throw new Error(`answered with ${replies}; the model allows ${ways.map((way) => `[${way.replies}]`).join(' or ')}`);
  let seen: Seen | null = null;
  const look = async () => {
    const now = await readSeen(run);
    seen = now;
    return possible.find(({ model }) => differences(model, now).length === 0) ?? null;
  };
  const found = await until(look, { timeoutMs: WAIT_MS, firstMs: 2, maxMs: 100 });
  if (found) return found.model;
  const all = possible.map(({ model }) => differences(model, seen as unknown as Seen).join('; '));
  throw new Error(`what is seen is nothing that the model allows: ${all.join('\n or: ')}\n seen: ${stringify(seen)}`);
}
