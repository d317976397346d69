import { stringify } from 'fast-check';
import { type Duplication, performTwice } from './duplicate.ts';
import { expectOneOf, waysOf, waysOfBoth } from './expect-outcome.ts';
import type { ModelRun } from './model-run.ts';
import { arrived, expired, type MoneyModel, type Operation, type Reply } from './money-model.ts';
import { DEADLINE_MS, type Prepared, prepare } from './perform.ts';
import { sendAgain } from './plain-transfers.ts';
import { type Plan, toOperation } from './plans.ts';
import type { Disturbance } from './troubled-chain.ts';

/** An event, with its effect in the model. */
export interface Happening {
  readonly kind: string;
  readonly details: readonly unknown[];
  /** Whether there is anything to do it with. */
  isPossible(model: MoneyModel): boolean;
  happen(run: ModelRun, model: MoneyModel): Promise<MoneyModel>;
}

export const nameOf = ({ kind, details }: Happening): string =>
  `${kind}(${details.map((each) => stringify(each)).join(', ')})`;

const isFeasible = (plan: Plan, model: MoneyModel) => toOperation(plan, model, () => '') !== null;

function operationOf(plan: Plan, model: MoneyModel, run: ModelRun): Operation {
  const operation = toOperation(plan, model, run.newName);
  if (!operation) throw new Error('a command was run that its check had refused');
  return operation;
}

/** A happening around one operation, which leads where the operation alone would lead. */
const around = (
  kind: string,
  plan: Plan,
  details: readonly unknown[],
  perform: (run: ModelRun, prepared: Prepared) => Promise<Reply>,
): Happening => ({
  kind,
  details: [plan, ...details],
  isPossible: (model) => isFeasible(plan, model),
  async happen(run, model) {
    const operation = operationOf(plan, model, run);
    const reply = await perform(run, await prepare(run, operation));
    return expectOneOf(run, waysOf(model, operation), [reply]);
  },
});

/** An event without an actor, which changes the model as `change` computes. */
const outside = (
  kind: string,
  details: readonly unknown[],
  change: (model: MoneyModel) => MoneyModel,
  happen: (run: ModelRun) => Promise<void>,
): Happening => ({
  kind,
  details,
  isPossible: () => true,
  async happen(run, model) {
    await happen(run);
    return expectOneOf(run, [{ replies: [], model: change(model) }], []);
  },
});

const same = (model: MoneyModel) => model;

export const simply = (plan: Plan): Happening => around(plan.kind, plan, [], (_run, { perform }) => perform());

export const duplicate = (plan: Plan, how: Duplication): Happening =>
  around('duplicate', plan, [how], (run, prepared) => performTwice(run, prepared, how));

export const lostAnswer = (plan: Plan, what: Disturbance): Happening =>
  around('lostAnswer', plan, [what], (run, { perform }) => {
    run.world.trouble.disturb(what);
    return perform();
  });

/** The process dies so many steps into the operation, or right after it; the next one is asked for the same. */
export const crash = (plan: Plan, steps: number): Happening =>
  around('crash', plan, [steps], async ({ world: { node } }, { perform }) => {
    node.current().dieAfter(steps);
    const before = await perform().catch(() => null);
    await node.succeed();
    const after = await perform();
    if (before !== null && before !== after) throw new Error(`${before} before the crash, ${after} after it`);
    return after;
  });

/** Two operations at the same moment: they go as if one had come after the other. */
export const reorder = (first: Plan, second: Plan): Happening => ({
  kind: 'reorder',
  details: [first, second],
  isPossible: (model) => isFeasible(first, model) && isFeasible(second, model),
  async happen(run, model) {
    const operations = [operationOf(first, model, run), operationOf(second, model, run)] as const;
    const prepared = await Promise.all(operations.map((operation) => prepare(run, operation)));
    const replies = await Promise.all(prepared.map(({ perform }) => perform()));
    return expectOneOf(run, waysOfBoth(model, ...operations), replies);
  },
});

export const refundsArrive: Happening = outside('refundsArrive', [], arrived, ({ world }) => world.node.untilAtRest());

/** Lets all deadlines pass without a living process. */
export const expire: Happening = outside('expire', [], expired, ({ world }) =>
  world.node.succeed(undefined, 2 * DEADLINE_MS),
);

export const reorg = (depth: number): Happening =>
  outside('reorg', [depth], same, async ({ world }) => {
    await world.trouble.takeBlocksBack(depth);
    await world.node.lookAround(() => sendAgain(world));
  });

/** Restarts one process after the other; a reorg in between goes unnoticed. */
export const restart = (depth: number): Happening =>
  outside('restart', [depth], same, async ({ world }) => {
    await world.node.succeed(() => (depth > 0 ? world.trouble.takeBlocksBack(depth) : Promise.resolve()));
    if (depth > 0) await world.node.lookAround(() => sendAgain(world));
  });
