import type { Chosen } from '@agent-network/contracts/agents/match-score';
import { parseUsdc } from '@agent-network/contracts/money';
import type { KnownCaller } from '../../access/caller/caller.ts';
import { requireWithinLimits } from '../../access/caller/spending-limits.ts';
import type { CallableAgent } from '../../agents/agent.ts';
import { type HasAgentFinder, unavailable } from '../../agents/alternatives/find-agent.ts';
import { findStandIns, nameAlternatives } from '../../agents/alternatives/find-alternatives.ts';
import type { HasListing } from '../../agents/search/listing.ts';
import type { HasTypeChecks } from '../../agents/types/type-checks.ts';
import { AppError } from '../../lib/app-error.ts';
import type { Shown } from '../../payments/x402/payment-header.ts';
import { type AgreementContext, expectedOf } from '../agreed/agreed-price.ts';
import { priceOf, rateWithin } from '../price.ts';
import { isPassedOn, requireAtHome } from '../remote/require-at-home.ts';
import type { WantedCall } from './invocation-purchase.ts';

type ChoosingContext = HasListing & HasAgentFinder & HasTypeChecks & AgreementContext;

/** The agent to call, and its price. */
export interface Choice {
  readonly agent: CallableAgent;
  readonly priceMicro: bigint;
  /** Percent of the price that its quote locked for an early end; else as its agent states it; null: all of it. */
  readonly shownShare: number | null;
  /** The quote to use up; none for a fallback. */
  readonly quoteId: string | null;
  /** The agent originally asked for, when a fallback is called. */
  readonly requestedAgentId: string | null;
  /** The node's reason for choosing the agent; null: the caller named it. */
  readonly chosen: Chosen | null;
}

export interface AskedAgent extends WantedCall {
  readonly agent: CallableAgent;
  readonly priceMicro: bigint;
  /** Percent of the price that its quote locked for an early end; null: all of it. */
  readonly shownShare: number | null;
  readonly shown: Shown | null;
  /** The node that passes the call on; null: none. */
  readonly via: string | null;
  /** The alternative that the shown payment was offered for. */
  readonly offeredId: string | null;
}

/**
 * The agent asked for, when it can be called. Otherwise, with `fallback`: the alternative that a payment was offered for, or without a
 * payment the most similar available agent within the agreed cost and the key's permissions. Throws AGENT_UNAVAILABLE when there is none,
 * and when the shown payment is for an unavailable agent: only the offered agent is paid. Throws SPENDING_LIMIT_EXCEEDED for a call that
 * the key may not make.
 */
export async function chooseAgent(ctx: ChoosingContext, caller: KnownCaller, asked: AskedAgent): Promise<Choice> {
  const { agent, priceMicro, quoteId, shownShare } = asked;
  if (asked.offeredId !== null) return chooseOffered(ctx, caller, asked, asked.offeredId);
  const isWanted = agent.status === 'online' || !asked.body.fallback || asked.shown !== null;
  if (!isWanted) return chooseAlternative(ctx, caller, asked);
  requireWithinLimits(caller, agent.id, priceMicro);
  if (agent.status !== 'online') throw await unavailable(ctx, agent);
  return { agent, priceMicro, shownShare, quoteId, requestedAgentId: null, chosen: null };
}

async function chooseOffered(
  ctx: ChoosingContext,
  caller: KnownCaller,
  asked: AskedAgent,
  offeredId: string,
): Promise<Choice> {
  const agent = await ctx.agentFinder.find(offeredId);
  if (agent?.status !== 'online')
    throw new AppError(
      'AGENT_UNAVAILABLE',
      'The offered alternative is offline. Nothing was charged; repeat the call without the payment for a new offer.',
      {
        agentId: offeredId,
        lastSeen: (agent ?? asked.agent).lastSeenAt.toISOString(),
        alternatives: await nameAlternatives(ctx, agent ?? asked.agent),
      },
    );
  requireAtHome(agent, caller, asked.via);
  await ctx.typeChecks.requireInput(agent, asked.body);
  const choice = toChoice(asked, agent);
  requireWithinLimits(caller, agent.id, choice.priceMicro);
  return choice;
}

async function chooseAlternative(ctx: ChoosingContext, caller: KnownCaller, asked: AskedAgent): Promise<Choice> {
  const isNamed = asked.body.maxCost !== undefined || asked.quoteId !== null;
  const expectedMicro = isNamed ? asked.priceMicro : await expectedOf(ctx, caller, asked);
  const mostMicro = agreedMicro(caller, { ...asked, priceMicro: expectedMicro });
  const standIns = await findStandIns(ctx, asked.agent, {
    maxPerRequestMicro: rateWithin(mostMicro, asked.body),
    among: caller.kind === 'account' ? caller.limits.allowedAgents : null,
    except: caller.kind === 'agent' ? [caller.agentId] : [],
  });
  for (const { agentId } of standIns) {
    const agent = await ctx.agentFinder.find(agentId);
    if (agent?.status !== 'online' || (agent.home && isPassedOn(caller, asked.via))) continue;
    if (!(await ctx.typeChecks.fits(agent, asked.body))) continue;
    const choice = toChoice(asked, agent);
    if (choice.priceMicro <= mostMicro) return choice;
  }
  throw await unavailable(ctx, asked.agent);
}

function toChoice({ agent: { id }, body }: AskedAgent, agent: CallableAgent): Choice {
  const priceMicro = priceOf(agent, body).totalMicro;
  return { agent, priceMicro, shownShare: agent.shownShare, quoteId: null, requestedAgentId: id, chosen: null };
}

/** Maximum cost of an alternative: `maxCost`, or else the expected price of the agent asked for; within the quote and the key's limits. */
function agreedMicro(caller: KnownCaller, { body, priceMicro, quoteId }: AskedAgent): bigint {
  const agreed = [body.maxCost === undefined ? priceMicro : parseUsdc(body.maxCost)];
  if (quoteId !== null) agreed.push(priceMicro);
  if (caller.kind === 'account')
    for (const limit of [caller.limits.perCallMicro, caller.limits.perDayMicro]) if (limit !== null) agreed.push(limit);
  return agreed.sort((a, b) => (a < b ? -1 : 1))[0] as bigint;
}
