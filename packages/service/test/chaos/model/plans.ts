import fc from 'fast-check';
import { PRICES_MICRO, WALLET_MICRO } from './model-world.ts';
import { type AgentEnd, isOpen, type MoneyModel, type Operation, openRefs, type Who } from './money-model.ts';

/** An operation before its target is known: which request is open, how much money there is. */
export type Plan =
  | { readonly kind: 'deposit' | 'transfer'; readonly who: Who; readonly amountMicro: bigint }
  /** `percent` of what is available, and some micro-USDC more or less. */
  | { readonly kind: 'withdraw'; readonly who: Who; readonly percent: number; readonly moreMicro: bigint }
  | {
      readonly kind: 'invoke';
      readonly who: Who;
      readonly means: 'treasury' | 'x402';
      readonly priceMicro: bigint;
      readonly end: AgentEnd | null;
    }
  | { readonly kind: 'answer'; readonly pick: number; readonly end: AgentEnd }
  /** Cancels an open request, or sometimes any request. */
  | { readonly kind: 'cancel'; readonly pick: number; readonly isOfAny: boolean };

/** The operation of a plan now; null when there is nothing to do. */
export function toOperation(plan: Plan, model: MoneyModel, newName: () => string): Operation | null {
  switch (plan.kind) {
    case 'deposit':
    case 'transfer':
      return plan;
    case 'withdraw': {
      const { availableMicro } = model.clients[plan.who];
      const amountMicro = (availableMicro * BigInt(plan.percent)) / 100n + plan.moreMicro;
      return { kind: 'withdraw', who: plan.who, amountMicro: amountMicro > 0n ? amountMicro : 1n };
    }
    case 'invoke':
      return { ...plan, ref: newName() };
    case 'answer':
    case 'cancel': {
      const isOfAny = plan.kind === 'cancel' && plan.isOfAny;
      const refs = isOfAny ? [...model.requests.keys()] : openRefs(model);
      const ref = refs[plan.pick % refs.length];
      if (ref === undefined || (plan.kind === 'answer' && !isOpen(model, ref))) return null;
      return plan.kind === 'answer' ? { kind: 'answer', ref, end: plan.end } : { kind: 'cancel', ref };
    }
  }
}

const who = fc.constantFrom<Who[]>(0, 1);
/** The price, less, nothing, or more than it. */
const claim = fc.option(fc.constantFrom(0n, 1n, 4_999n, 12_999n, 13_001n, 49_999n, 200_000n));
const end: fc.Arbitrary<AgentEnd> = fc.oneof(
  { weight: 3, arbitrary: claim.map((claimMicro) => ({ kind: 'completed' as const, claimMicro })) },
  { weight: 1, arbitrary: fc.constant({ kind: 'failed' as const }) },
);
const endOrNone: fc.Arbitrary<AgentEnd | null> = fc.oneof(end, fc.constant(null));
const amountMicro = fc.oneof(
  { weight: 4, arbitrary: fc.bigInt(1n, WALLET_MICRO / 4n) },
  { weight: 1, arbitrary: fc.bigInt(WALLET_MICRO / 4n, WALLET_MICRO + 1n) },
);
const pick = fc.nat(11);

const plansByKind: Record<Plan['kind'], fc.Arbitrary<Plan>> = {
  deposit: fc.record({ kind: fc.constant('deposit' as const), who, amountMicro }),
  transfer: fc.record({ kind: fc.constant('transfer' as const), who, amountMicro }),
  withdraw: fc.record({
    kind: fc.constant('withdraw' as const),
    who,
    percent: fc.constantFrom(0, 10, 50, 100, 100, 130),
    moreMicro: fc.bigInt(-1n, 1n),
  }),
  invoke: fc.record({
    kind: fc.constant('invoke' as const),
    who,
    means: fc.constantFrom('treasury' as const, 'treasury' as const, 'x402' as const),
    priceMicro: fc.constantFrom(...PRICES_MICRO),
    end: endOrNone,
  }),
  answer: fc.record({ kind: fc.constant('answer' as const), pick, end }),
  cancel: fc.record({
    kind: fc.constant('cancel' as const),
    pick,
    isOfAny: fc.constantFrom(false, false, false, true),
  }),
};

export const planOf = (...kinds: readonly Plan['kind'][]): fc.Arbitrary<Plan> =>
  fc.oneof(...kinds.map((kind) => plansByKind[kind]));

export const anyPlan = planOf('deposit', 'transfer', 'withdraw', 'invoke', 'invoke', 'invoke', 'answer', 'cancel');
