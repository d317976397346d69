import { run, type Sql, type Statement, type Tx } from '../../store/sql.ts';
import type { Rate } from './price.ts';

/** Prices of an agent that an account knows. */
export interface KnownTerms {
  /** By which it last paid; null: it never did. */
  readonly paid: Rate | null;
  /** Prices that ended after the account's last payment, and recently enough that it may have seen them. */
  readonly former: readonly Rate[];
}

/** Terms from before prices by usage do not name them. */
type StoredRate = Omit<Rate, 'perRequestMicro' | 'perUsage'> & {
  readonly perRequestMicro: string;
  readonly perUsage?: Rate['perUsage'];
};

const toRate = (terms: StoredRate): Rate => ({
  ...terms,
  perUsage: terms.perUsage ?? null,
  perRequestMicro: BigInt(terms.perRequestMicro),
});

/**
 * Prices of these agents that an account knows; an agent without any is absent. `since`: start of the time in which a former price counts.
 */
export async function readKnownTerms(
  sql: Sql,
  {
    accountId,
    agentIds,
    since,
  }: { readonly accountId: string; readonly agentIds: readonly string[]; readonly since: Date },
): Promise<ReadonlyMap<string, KnownTerms>> {
  const rows = await sql.query<{ agentId: string; terms: StoredRate; isPaid: boolean }>(
    'read-known-terms',
    `with paid as (select agent_id, terms, paid_at from paid_terms where account_id = $1 and agent_id = any($2))
     select agent_id as "agentId", terms, true as "isPaid" from paid
     union all
     select f.agent_id, f.terms, false from former_terms f left join paid p on p.agent_id = f.agent_id
      where f.agent_id = any($2) and f.ended_at > $3 and (p.paid_at is null or f.ended_at > p.paid_at)`,
    [accountId, agentIds, since],
  );
  const known = Map.groupBy(rows, ({ agentId }) => agentId);
  return new Map(
    [...known].map(([agentId, of]) => {
      const paid = of.find(({ isPaid }) => isPaid);
      const former = of.filter(({ isPaid }) => !isPaid).map(({ terms }) => toRate(terms));
      return [agentId, { paid: paid ? toRate(paid.terms) : null, former }];
    }),
  );
}

/** An assumption to verify: the account last paid the agent by these terms, and they have not changed since. */
export interface SteadyTerms {
  readonly accountId: string;
  readonly agentId: string;
  readonly rate: Rate;
}

export const isSameRate = (a: Rate, b: Rate): boolean => JSON.stringify(storedOf(a)) === JSON.stringify(storedOf(b));

/** The pairs, by their places in the list, of which that is not so. `since`: how long a former price counts. */
export async function findUnsteady(tx: Tx, assumed: readonly SteadyTerms[], since: Date): Promise<ReadonlySet<number>> {
  if (assumed.length === 0) return new Set();
  const unsteady: Statement<{ nth: bigint }> = {
    ...{ name: 'find-unsteady-terms', text: UNSTEADY, params: steadyParams(assumed, since) },
  };
  return new Set((await run(tx, unsteady)).map(({ nth }) => Number(nth) - 1));
}

/** Flush guards that fail unless all of these assumptions hold. */
export const steadyGuards = (assumed: readonly SteadyTerms[], since: Date): Statement[] =>
  assumed.length === 0
    ? []
    : [
        {
          name: 'steady-terms-guard',
          text: `select require_true(not exists (${UNSTEADY}))`,
          params: steadyParams(assumed, since),
        },
      ];

const UNSTEADY = `select nth from unnest($1::text[], $2::text[], $3::text[]) with ordinality as s(account, agent, terms, nth)
  left join paid_terms p on p.account_id = s.account and p.agent_id = s.agent
 where p.terms is null or p.terms::jsonb <> s.terms::jsonb
    or exists (select from former_terms f where f.agent_id = s.agent and f.ended_at > $4 and f.ended_at > p.paid_at)`;

const steadyParams = (assumed: readonly SteadyTerms[], since: Date): unknown[] => [
  assumed.map(({ accountId }) => accountId),
  assumed.map(({ agentId }) => agentId),
  assumed.map(({ rate }) => JSON.stringify(storedOf(rate))),
  since,
];

/** The terms by which an account pays an agent from now on. */
export interface AgreedTerms {
  readonly accountId: string;
  readonly agentId: string;
  readonly rate: Rate;
}

/** Notes agreed terms, after the ledger; in one order, so that two transactions never wait for each other. */
export async function recordAgreedTerms(tx: Tx, agreed: readonly AgreedTerms[], now: Date): Promise<void> {
  for (const statement of agreedTermsRecorded(agreed, now)) await run(tx, statement);
}

export function agreedTermsRecorded(agreed: readonly AgreedTerms[], now: Date): Statement[] {
  if (agreed.length === 0) return [];
  const rows = [...new Map(agreed.map((each) => [`${each.accountId} ${each.agentId}`, each])).entries()]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([, each]) => each);
  const statement = {
    name: 'record-agreed-terms',
    text: `insert into paid_terms (account_id, agent_id, terms, paid_at)
     select account, agent, terms::json, $4 from unnest($1::text[], $2::text[], $3::text[]) as n(account, agent, terms)
     on conflict (account_id, agent_id) do update set terms = excluded.terms, paid_at = excluded.paid_at`,
    params: [
      rows.map(({ accountId }) => accountId),
      rows.map(({ agentId }) => agentId),
      rows.map(({ rate }) => JSON.stringify(storedOf(rate))),
      now,
    ],
  };
  return [statement];
}

const storedOf = ({ perRequestMicro, takesHints, sizeSteps, perUnit, perUsage }: Rate): StoredRate => ({
  ...{ perRequestMicro: perRequestMicro.toString(), takesHints },
  ...{ sizeSteps, perUnit },
  ...(perUsage ? { perUsage } : {}),
});
