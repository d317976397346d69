import { credibilityOf, type PaidOwner, payerHistoryOf } from '../../../src/agents/reputation/credibility.ts';
import { evidenceOf, type PayerOutcomes, weightOf } from '../../../src/agents/reputation/evidence.ts';
import { type PayerBooks, partiesOf } from '../../../src/agents/reputation/payer-ties.ts';
import { FULL_MICRO, type Liveness, outcomesOf, scoreOf } from '../../../src/agents/reputation/reputation.ts';

export const healthy: Liveness = { probes: 1000n, probesPassed: 1000n, responseMs: 0 };
export const neverProbed: Liveness = { probes: 0n, probesPassed: 0n, responseMs: null };

interface Call {
  readonly payer: string;
  readonly owner: string;
  readonly ok: boolean;
  readonly times?: number;
  readonly daysAgo?: number;
  readonly amountMicro?: bigint;
}

/** A market in memory where each owner has one agent; judged by the very rules of the node. */
export interface Economy {
  call(call: Call): void;
  /** An account acts with a wallet, with the consent of its holder. */
  contact(accountId: string, wallet: string): void;
  /** An account sends money to a wallet. */
  send(from: string, to: string): void;
  scoreOf(owner: string, liveness?: Liveness): number;
}

const DAY_MS = 86_400_000;
const now = new Date('2026-11-21T12:00:00Z');

export function createEconomy(): Economy {
  const calls: Required<Call>[] = [];
  const contacts: PayerBooks['contacts'][number][] = [];
  const gifts: PayerBooks['gifts'][number][] = [];

  const credibilities = () => {
    const good = calls.filter(({ ok }) => ok);
    const [by, to] = [Map.groupBy(good, ({ payer }) => payer), Map.groupBy(good, ({ owner }) => owner)];
    return (payer: string) => credibilityOfPayer(payer, by.get(payer) ?? [], to.get(payer) ?? []);
  };
  const credibilityOfPayer = (payer: string, made: readonly Required<Call>[], received: readonly Required<Call>[]) => {
    const paid: PaidOwner[] = made.map(({ owner, amountMicro, times, daysAgo }) => ({
      ownerId: owner,
      paidMicro: amountMicro * BigInt(times),
      firstPaidAt: new Date(now.getTime() - daysAgo * DAY_MS),
    }));
    const fromOwners = received.map((call) => ({ from: call.payer, to: payer }));
    const books = { contacts, gifts: [...gifts, ...fromOwners], trades: [] };
    return credibilityOf(payerHistoryOf(payer, paid, books), now);
  };

  return {
    call: (call) => void calls.push({ times: 1, daysAgo: 0, amountMicro: FULL_MICRO, ...call }),
    contact: (accountId, wallet) => void contacts.push({ accountId, wallet }),
    send: (from, to) => void gifts.push({ from, to }),
    scoreOf(owner, liveness = healthy) {
      const mine = calls.filter((call) => call.owner === owner);
      const payers = new Set(mine.map(({ payer }) => payer));
      const trades = calls.filter(({ ok }) => ok).map(({ payer, owner: to }) => ({ from: payer, to }));
      const books = { contacts, gifts, trades: trades.filter(({ to }) => payers.has(to)) };
      const parties = partiesOf([owner], payers, books);
      return scoreOf(outcomesOf(evidenceOf(mine.map(toOutcomes), parties, credibilities()).payers), liveness).score;
    },
  };
}

function toOutcomes({ payer, ok, times, daysAgo, amountMicro }: Required<Call>): PayerOutcomes {
  const counted = (amountMicro < FULL_MICRO ? amountMicro : FULL_MICRO) * BigInt(times) * weightOf(daysAgo);
  return {
    accountId: payer,
    good: ok ? counted : 0n,
    bad: ok ? 0n : counted,
    goodCalls: ok ? BigInt(times) : 0n,
    badCalls: ok ? 0n : BigInt(times),
    records: 1n,
  };
}
