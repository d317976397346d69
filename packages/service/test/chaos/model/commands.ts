import fc from 'fast-check';
import type { Duplication } from './duplicate.ts';
import {
  crash,
  duplicate,
  expire,
  type Happening,
  lostAnswer,
  nameOf,
  refundsArrive,
  reorder,
  reorg,
  restart,
  simply,
} from './happenings.ts';
import type { ModelRun } from './model-run.ts';
import type { MoneyModel } from './money-model.ts';
import { anyPlan, planOf } from './plans.ts';
import { disturbances } from './troubled-chain.ts';

/** The model as of the last command that was run. */
export interface CurrentModel {
  now: MoneyModel;
}
export type Command = fc.AsyncCommand<CurrentModel, ModelRun>;

/** How many commands were run, by their kind. */
export type Tally = Map<string, number>;

const duplications: readonly Duplication[] = ['at once', 'later', 'same payment', 'other body'];
/** More than most operations take. */
const MAX_STEPS = 60;

const weighted: readonly (readonly [weight: number, fc.Arbitrary<Happening>])[] = [
  [10, anyPlan.map(simply)],
  [2, fc.tuple(anyPlan, fc.constantFrom(...duplications)).map((args) => duplicate(...args))],
  [3, fc.tuple(anyPlan, anyPlan).map((args) => reorder(...args))],
  [1, fc.tuple(planOf('answer', 'invoke'), planOf('cancel', 'withdraw')).map((args) => reorder(...args))],
  [1, fc.tuple(anyPlan, fc.nat(MAX_STEPS)).map((args) => crash(...args))],
  [
    1,
    fc
      .tuple(planOf('deposit', 'withdraw', 'invoke', 'cancel'), fc.constantFrom(...disturbances))
      .map((args) => lostAnswer(...args)),
  ],
  [1, fc.constant(refundsArrive)],
  [1, fc.oneof(fc.constant(expire), fc.integer({ min: 1, max: 4 }).map(reorg), fc.nat(3).map(restart))],
];

/** All that can happen in a run, each as often as its weight says. */
export const commandsOf = (tally: Tally): fc.Arbitrary<Command>[] =>
  weighted.flatMap(([weight, happening]) =>
    Array.from({ length: weight }, () => happening.map((each) => toCommand(tally, each))),
  );

const toCommand = (tally: Tally, happening: Happening): Command => ({
  check: ({ now }) => happening.isPossible(now),
  async run(place, run) {
    tally.set(happening.kind, (tally.get(happening.kind) ?? 0) + 1);
    place.now = await happening.happen(run, place.now);
  },
  toString: () => nameOf(happening),
});
