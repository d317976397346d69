import { identityRegistryByChain, isKnownChainId } from '@agent-network/chain/addresses';
import type { HasDb } from '../db/database.ts';
import type { Tx } from '../db/sql.ts';
import { planFeedback } from '../identity/registry/plan-feedback.ts';
import { invariant } from '../lib/invariant.ts';
import type { HasLog } from '../lib/log.ts';
import { findAgentRow } from './agent-store.ts';
import { type FeedbackFacts, feedbackOf, feedbackUri } from './feedback-of.ts';
import { findFeedbackFile, insertFeedback, takeFeedbackDue } from './feedback-store.ts';
import { type JudgeContext, tieOfPayer } from './judge-payers.ts';

/** The wallet that gives feedback of this node's outcomes to the shared registry; null: none is given. */
export interface HasFeedbackGiver {
  readonly feedbackGiver: string | null;
}

type FeedbackContext = JudgeContext & HasLog & HasFeedbackGiver & { readonly baseUrl: string };

const BATCH = 20;

/** Plans the feedback of outcomes that have a payment on chain; those that get none are logged with the reason. */
export async function giveFeedback(ctx: FeedbackContext): Promise<void> {
  const { feedbackGiver: giver } = ctx;
  if (giver === null) return;
  for (;;) {
    const taken = await ctx.db.transaction(async (tx) => {
      const due = await takeFeedbackDue(tx, ctx.chain.chainId, BATCH);
      for (const facts of due) await giveOne(ctx, tx, facts, giver);
      return due.length;
    });
    if (taken < BATCH) return;
  }
}

async function giveOne(ctx: FeedbackContext, tx: Tx, facts: FeedbackFacts, giver: string): Promise<void> {
  const { chainId } = ctx.chain;
  invariant(isKnownChainId(chainId), 'the registries of the chain are known');
  const { agentId, requestId } = facts;
  const agent = await findAgentRow(ctx.db, agentId);
  const tie = agent === null ? 'none' : await tieOfPayer(ctx, agent, facts.accountId);
  const place = { chainId, identityRegistry: identityRegistryByChain[chainId], giver, baseUrl: ctx.baseUrl };
  const feedback = feedbackOf(facts, tie !== 'none', place);
  if (feedback.kind === 'left_out') {
    ctx.log.debug({ requestId, agentId, reason: feedback.reason }, 'an outcome is not given as feedback');
    return;
  }
  const { tokenId, file } = feedback;
  const text = JSON.stringify(file);
  await insertFeedback(tx, { requestId, agentId, file: text });
  const uri = feedbackUri(ctx.baseUrl, facts);
  await planFeedback(tx, { chainId, requestId, tokenId, file, text, uri }, ctx.clock.now());
}

/** The file of a feedback that was given; null when there is none. */
export const readFeedbackFile = (ctx: HasDb, agentId: string, requestId: string): Promise<string | null> =>
  findFeedbackFile(ctx.db, agentId, requestId);
