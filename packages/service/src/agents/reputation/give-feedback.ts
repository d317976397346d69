import { identityRegistryByChain, isKnownChainId, type KnownChainId } from '@agent-network/chain/addresses';
import type { NodeIdentity } from '../../chain/chain-info.ts';
import { invariant } from '../../lib/invariant.ts';
import type { Telemetry } from '../../lib/telemetry/telemetry.ts';
import { planFeedback } from '../../registry/write/queue-write.ts';
import type { Store } from '../../store/database.ts';
import type { Tx } from '../../store/sql.ts';
import { isId } from '../agent-id.ts';
import { type FeedbackFacts, type FeedbackPlace, feedbackOf, feedbackUri } from './feedback-of.ts';
import { findFeedbackFile, insertFeedback, takeFeedbackDue } from './feedback-store.ts';
import { type JudgeContext, tiesOfPayers } from './judge-payers.ts';
import { isHeard } from './payer-ties.ts';

type FeedbackContext = Store & NodeIdentity & Telemetry & { readonly feedbackGiver: string | null };

const BATCH = 500;

/** Plans the feedback of outcomes with a payment on chain; logs the reason for each that gets none. */
export async function giveFeedback(ctx: FeedbackContext): Promise<void> {
  const { feedbackGiver: giver } = ctx;
  if (giver === null) return;
  const { chainId } = ctx.chain;
  invariant(isKnownChainId(chainId), 'the registries of the chain are known');
  const place = { chainId, identityRegistry: identityRegistryByChain[chainId], giver, baseUrl: ctx.baseUrl };
  for (;;) {
    const taken = await ctx.db.transaction(async (tx) => {
      const due = await takeFeedbackDue(tx, chainId, BATCH);
      // Most agents are in no registry: ties are read only for outcomes that qualify, once for each agent.
      const tied = await findTied(
        ctx,
        due.filter((facts) => feedbackOf(facts, false, place).kind === 'given'),
      );
      for (const facts of due) await giveOne(ctx, tx, facts, tied.has(facts.requestId), place);
      return due.length;
    });
    if (taken < BATCH) return;
  }
}

/** The requests that say nothing, as their payer is tied to the owner of the agent, removed or not. */
async function findTied(ctx: JudgeContext, given: readonly FeedbackFacts[]): Promise<Set<string>> {
  const tied = new Set<string>();
  for (const [id, calls] of Map.groupBy(given, ({ agentId }) => agentId)) {
    const { owner } = calls[0] as FeedbackFacts;
    const agent = { id, accountId: owner.accountId, owner: owner.address };
    const ties = await tiesOfPayers(ctx, agent, [...new Set(calls.map(({ accountId }) => accountId))]);
    for (const { requestId, accountId, isGood } of calls)
      if (!isHeard(ties.get(accountId) ?? 'none', isGood)) tied.add(requestId);
  }
  return tied;
}

async function giveOne(
  ctx: FeedbackContext,
  tx: Tx,
  facts: FeedbackFacts,
  isTied: boolean,
  place: FeedbackPlace & { readonly chainId: KnownChainId },
): Promise<void> {
  const { agentId, requestId } = facts;
  const feedback = feedbackOf(facts, isTied, place);
  if (feedback.kind === 'left_out') {
    ctx.log.debug({ requestId, agentId, reason: feedback.reason }, 'outcome not given as feedback');
    return;
  }
  const { tokenId, file } = feedback;
  const text = JSON.stringify(file);
  await insertFeedback(tx, { requestId, agentId, file: text });
  const uri = feedbackUri(ctx.baseUrl, facts);
  await planFeedback(tx, { chainId: place.chainId, requestId, tokenId, file, text, uri }, ctx.clock.now());
}

/** The file of a given feedback; null when there is none. */
export const readFeedbackFile = async (ctx: Store, agentId: string, requestId: string): Promise<string | null> =>
  isId(agentId) && isId(requestId) ? findFeedbackFile(ctx.db, agentId, requestId) : null;
