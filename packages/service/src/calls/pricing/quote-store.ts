import type { UnitMeasure } from '@agent-network/contracts/agents/agent-metadata';
import type { Sql } from '../../store/sql.ts';
import type { UsageTerms } from '../usage/rate-usage.ts';
import type { Factors } from './price.ts';

export interface QuoteRow {
  readonly id: string;
  readonly accountId: string;
  readonly agentId: string;
  readonly priceMicro: bigint;
  /** Price multiplier of the quoted call, in ten-thousandths; null: quotes older than the column. */
  readonly multiplier: number | null;
  /** Factors of the multiplier; null: the quote is older than the column. */
  readonly factors: Factors | null;
  /** Units of the quoted call, and where in its input they are counted; null: it has no price by units. */
  readonly unitCount: bigint | null;
  readonly unitPointer: string | null;
  /** Measure of the units; null: it follows the JSON type. */
  readonly unitMeasure: UnitMeasure | null;
  /** Percent of the price that a call costs which is ended early after output was shown; null: all of it. */
  readonly shownShare: number | null;
  /** Terms of an agent that is paid by usage; null: none. */
  readonly usageTerms: UsageTerms | null;
  readonly validUntil: Date;
  readonly usedBy: string | null;
}

export async function insertQuote(sql: Sql, quote: Omit<QuoteRow, 'usedBy'>, now: Date): Promise<void> {
  await sql.query(
    'insert-quote',
    `insert into quote (id, account_id, agent_id, price_micro, multiplier_ten_thousandths, valid_until, created_at, unit_count, unit_pointer,
       unit_measure, factors, shown_share, usage_terms)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)`,
    [
      ...[quote.id, quote.accountId, quote.agentId, quote.priceMicro, quote.multiplier],
      ...[
        quote.validUntil,
        now,
        quote.unitCount,
        quote.unitPointer,
        quote.unitMeasure,
        JSON.stringify(quote.factors),
        quote.shownShare,
        quote.usageTerms && JSON.stringify(quote.usageTerms),
      ],
    ],
  );
}

export async function findQuote(sql: Sql, id: string, accountId: string): Promise<QuoteRow | null> {
  const rows = await sql.query<QuoteRow>(
    'find-quote',
    `select id, account_id as "accountId", agent_id as "agentId", price_micro as "priceMicro",
            coalesce(multiplier_ten_thousandths, multiplier_hundredths * 100) as multiplier, factors, unit_count as "unitCount", unit_pointer as "unitPointer", unit_measure as "unitMeasure", shown_share as "shownShare", usage_terms as "usageTerms", valid_until as "validUntil",
            used_by as "usedBy"
       from quote where id = $1 and account_id = $2`,
    [id, accountId],
  );
  return rows[0] ?? null;
}

/** Uses quotes for requests; returns the requests that got theirs. Of several requests for one quote, one wins. */
export async function useQuotes(
  sql: Sql,
  uses: readonly { quoteId: string; requestId: string }[],
): Promise<Set<string>> {
  if (uses.length === 0) return new Set();
  const rows = await sql.query<{ usedBy: string }>(
    'use-quotes',
    `update quote q set used_by = u.request_id
       from (select distinct on (quote_id) * from unnest($1::text[], $2::text[]) as n(quote_id, request_id)) u
      where q.id = u.quote_id and q.used_by is null returning q.used_by as "usedBy"`,
    [uses.map((u) => u.quoteId), uses.map((u) => u.requestId)],
  );
  return new Set(rows.map((row) => row.usedBy));
}

/** Releases the quotes of requests that were not accepted, in the transaction that used them. */
export async function unuseQuotes(sql: Sql, requestIds: readonly string[]): Promise<void> {
  if (requestIds.length === 0) return;
  await sql.query('unuse-quotes', 'update quote set used_by = null where used_by = any($1)', [requestIds]);
}
