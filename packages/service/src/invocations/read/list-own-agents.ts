import type { Api } from '@agent-network/contracts/api';
import type { DataOf, Parsed } from '@agent-network/contracts/endpoint';
import { formatUsdc } from '@agent-network/contracts/money';
import { suspensionOf } from '../../access/accounts/suspended-account.ts';
import type { AccountCaller } from '../../access/caller/caller.ts';
import { ownAgents, toOwnAgent } from '../../agents/manage/own-agents.ts';
import type { HasNodeLabel } from '../../agents/search/listing.ts';
import type { HasDb } from '../../db/database.ts';
import type { HasClock } from '../../lib/clock.ts';
import { decodeCursor, encodeCursor } from '../../lib/page-position.ts';
import { utcPeriod } from '../../lib/utc-period.ts';
import { agentTreasuries } from '../../payments/ledger/agent-treasuries.ts';
import { type AgentFigureRow, listAgentFigures } from '../stats/call-figure-store.ts';

const DEFAULT_LIMIT = 20;
const MAX_DAYS = 30;

/**
 * The caller's agents, newest first, with balance and earnings. A page is one index range; for each agent on it, 30 rows of daily sums are
 * read, whatever the number of its calls.
 */
export async function listOwnAgents(
  ctx: HasDb & HasClock & HasNodeLabel,
  caller: AccountCaller,
  { agentId, limit = DEFAULT_LIMIT, cursor }: Parsed<Api['listOwnAgents']>['query'],
): Promise<DataOf<Api['listOwnAgents']>> {
  const now = ctx.clock.now();
  const after = cursor === undefined ? null : (decodeCursor(cursor, /^(agt_[0-9a-z]+)$/)[0] ?? null);
  const { agents, total } = await ownAgents(ctx, caller.accountId, {
    agentId: agentId ?? null,
    after,
    limit: limit + 1,
  });
  const shown = agents.slice(0, limit);
  const ids = shown.map(({ id }) => id);
  const [treasuries, figures, suspension] = await Promise.all([
    agentTreasuries(ctx, ids),
    listAgentFigures(ctx.db, ids, utcPeriod(MAX_DAYS, now).from),
    suspensionOf(ctx.db, caller.accountId),
  ]);
  const figuresOf = Map.groupBy(figures, ({ agentId }) => agentId);
  const hasMore = agents.length > limit;
  const last = shown.at(-1);
  return {
    agents: shown.map((agent) => {
      const treasury = treasuries.get(agent.id);
      const heldMicro = treasury?.heldMicro ?? 0n;
      return {
        ...toOwnAgent(ctx, agent, suspension),
        treasuryId: treasury?.id ?? null,
        balance: {
          available: formatUsdc((treasury?.postedMicro ?? 0n) - heldMicro),
          held: formatUsdc(heldMicro),
        },
        ...sumUp(figuresOf.get(agent.id) ?? [], now),
      };
    }),
    total,
    hasMore,
    nextCursor: hasMore && last ? encodeCursor(last.id) : null,
  };
}

function sumUp(rows: readonly AgentFigureRow[], now: Date) {
  const since = (days: number) => rows.filter(({ start }) => start >= utcPeriod(days, now).from);
  const earned = (days: number) => formatUsdc(since(days).reduce((sum, each) => sum + each.amountMicro, 0n));
  const count = (pick: (row: AgentFigureRow) => bigint) => Number(since(7).reduce((sum, each) => sum + pick(each), 0n));
  return {
    earned: { today: earned(1), days7: earned(7), days30: earned(MAX_DAYS) },
    calls7: count(({ calls }) => calls),
    failures7: count(({ failed }) => failed),
  };
}
