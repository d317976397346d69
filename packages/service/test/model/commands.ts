import fc from 'fast-check';
import { type Duplication, performTwice } from './duplicate.ts';
import { expectOneOf, type Way, waysOf, waysOfBoth } from './expect-outcome.ts';
import type { ModelRun } from './model-run.ts';
import { arrived, expired, type MoneyModel, type Operation } from './money-model.ts';
import { DEADLINE_MS, type Prepared, prepare } from './perform.ts';
import { sendAgain } from './plain-transfers.ts';
import { anyPlan, type Plan, planOf, toOperation } from './plans.ts';
import { type Disturbance, disturbances } from './troubled-chain.ts';

/** Where the model stands in the course of a run. */
export interface Place {
  now: MoneyModel;
}
export type Command = fc.AsyncCommand<Place, ModelRun>;

/** Commands run so far, by name: what was tried. */
export type Tally = Map<string, number>;

/** Something that happens, and what it leads to by the model. */
interface Happening {
  readonly name: string;
  /** Whether there is anything to do it with. */
  isPossible(model: MoneyModel): boolean;
  happen(run: ModelRun, model: MoneyModel): Promise<MoneyModel>;
}

function toCommand(tally: Tally, { name, isPossible, happen }: Happening): Command {
  return {
    check: ({ now }) => isPossible(now),
    async run(place, run) {
      const kind = name.replace(/[ (].*/, '');
      tally.set(kind, (tally.get(kind) ?? 0) + 1);
      place.now = await happen(run, place.now);
    },
    toString: () => name,
  };
}

/** A happening around one operation, which leads where the operation alone would lead. */
function around(
  name: string,
  plan: Plan,
  detail: unknown,
  perform: (run: ModelRun, operation: Operation, prepared: Prepared) => Promise<'done' | 'refused'>,
): Happening {
  return {
    name: `${name}${fc.stringify(detail === undefined ? [plan] : [plan, detail]).replace(/^\[(.*)\]$/s, '($1)')}`,
    isPossible: (model) => toOperation(plan, model, () => '') !== null,
    async happen(run, model) {
      const operation = operationOf(plan, model, run);
      const reply = await perform(run, operation, await prepare(run, operation));
      return expectOneOf(run, waysOf(model, operation), [reply]);
    },
  };
}

function operationOf(plan: Plan, model: MoneyModel, run: ModelRun): Operation {
  const operation = toOperation(plan, model, run.newName);
  if (!operation) throw new Error('a command was run that its check had refused');
  return operation;
}

/** What happens without anybody's doing, and changes the model as `change` says. */
const outside = (
  name: string,
  change: (model: MoneyModel) => MoneyModel,
  happen: (run: ModelRun) => Promise<void>,
): Happening => ({
  name,
  isPossible: () => true,
  async happen(run, model) {
    await happen(run);
    const way: Way = { replies: [], model: change(model) };
    return expectOneOf(run, [way], []);
  },
});

const simply = (plan: Plan) => around(plan.kind, plan, undefined, (_run, _operation, { perform }) => perform());

const twice = (plan: Plan, how: Duplication) =>
  around('duplicate', plan, how, (run, _operation, prepared) => performTwice(run, prepared, how));

const withLostAnswer = (plan: Plan, what: Disturbance) =>
  around('lostAnswer', plan, what, async (run, _operation, { perform }) => {
    run.world.trouble.disturb(what);
    return perform();
  });

/** The process dies so many steps into the operation, or right after it; the next one is asked for the same. */
const withCrash = (plan: Plan, steps: number) =>
  around('crash', plan, steps, async (run, _operation, { perform }) => {
    const { node } = run.world;
    node.current().dieAfter(steps);
    const before = await perform().catch(() => null);
    await node.succeed();
    const reply = await perform();
    if (before !== null && before !== reply)
      throw new Error(`answered with ${before} before the crash, ${reply} after it`);
    return reply;
  });

/** Two operations at the same moment: they go as if one had come after the other. */
const both = (first: Plan, second: Plan): Happening => ({
  name: `reorder${fc.stringify([first, second]).replace(/^\[(.*)\]$/s, '($1)')}`,
  isPossible: (model) => [first, second].every((plan) => toOperation(plan, model, () => '') !== null),
  async happen(run, model) {
    const operations = [operationOf(first, model, run), operationOf(second, model, run)] as const;
    const prepared = await Promise.all(operations.map((operation) => prepare(run, operation)));
    const replies = await Promise.all(prepared.map(({ perform }) => perform()));
    return expectOneOf(run, waysOfBoth(model, ...operations), replies);
  },
});

const same = (model: MoneyModel) => model;

const arrive = outside('refundsArrive()', arrived, ({ world }) => world.node.untilAtRest());

const expire = outside('expire()', expired, ({ world }) => world.node.succeed(undefined, 2 * DEADLINE_MS));

const reorg = (depth: number) =>
  outside(`reorg(${depth})`, same, async ({ world }) => {
    await world.trouble.takeBlocksBack(depth);
    await world.node.lookAround(() => sendAgain(world));
  });

/** Between two processes nobody sees the chain change. */
const restart = (depth: number) =>
  outside(`restart(${depth})`, same, async ({ world }) => {
    await world.node.succeed(() => (depth > 0 ? world.trouble.takeBlocksBack(depth) : Promise.resolve()));
    if (depth > 0) await world.node.lookAround(() => sendAgain(world));
  });

export function commandsOf(tally: Tally): fc.Arbitrary<Command>[] {
  const steps = fc.nat(60);
  const happenings: [weight: number, fc.Arbitrary<Happening>][] = [
    [10, anyPlan.map(simply)],
    [
      2,
      fc
        .tuple(anyPlan, fc.constantFrom<Duplication[]>('at once', 'later', 'same payment', 'other body'))
        .map((args) => twice(...args)),
    ],
    [3, fc.tuple(anyPlan, anyPlan).map((args) => both(...args))],
    [1, fc.tuple(planOf('answer', 'invoke'), planOf('cancel', 'withdraw')).map((args) => both(...args))],
    [1, fc.tuple(anyPlan, steps).map((args) => withCrash(...args))],
    [
      1,
      fc
        .tuple(planOf('deposit', 'withdraw', 'invoke', 'cancel'), fc.constantFrom(...disturbances))
        .map((args) => withLostAnswer(...args)),
    ],
    [1, fc.constant(arrive)],
    [1, fc.oneof(fc.constant(expire), fc.integer({ min: 1, max: 4 }).map(reorg), fc.nat(3).map(restart))],
  ];
  return happenings.flatMap(([weight, happening]) =>
    Array.from({ length: weight }, () => happening.map((each) => toCommand(tally, each))),
  );
}
