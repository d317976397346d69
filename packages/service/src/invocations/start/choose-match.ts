import type { AutoRequest } from '@agent-network/contracts/invocations/auto';
import { formatUsdc, parseUsdc } from '@agent-network/contracts/money';
import type { KnownCaller } from '../../access/caller/caller.ts';
import { requireWithinLimits } from '../../access/caller/spending-limits.ts';
import type { CallableAgent } from '../../agents/agent.ts';
import { type HasAgentFinder, unavailable } from '../../agents/alternatives/find-agent.ts';
import { matchTask, type TaskMatch, type TaskMatching } from '../../agents/matching/match-task.ts';
import type { HasListing } from '../../agents/search/listing.ts';
import { taskWords } from '../../agents/search/words/task-words.ts';
import type { HasTypeChecks } from '../../agents/types/type-checks.ts';
import type { HasDb } from '../../db/database.ts';
import { AppError } from '../../lib/app-error.ts';
import type { HasClock } from '../../lib/clock.ts';
import { priceOf, rateReaching, rateWithin } from '../price.ts';
import { isPassedOn } from '../remote/require-at-home.ts';
import type { Choice } from './choose-agent.ts';

type ChoosingContext = HasListing & HasDb & HasClock & HasAgentFinder & HasTypeChecks;

export interface AskedAuto {
  readonly body: AutoRequest;
  /** The lowest price above 0 that the caller can pay. */
  readonly leastMicro: bigint;
  /** The agent that the shown payment was offered for; null: none. */
  readonly offeredId: string | null;
}

/** Some dozens of matches are ranked in each; those before them can't be called, or refuse the input. */
const MAX_ROUNDS = 5;

/**
 * The agent that a payment was offered for, or without one the best match that can be called, and paid, within `maxCost` and the limits of
 * the key. Agents of the caller's own account are taken like others; a calling agent never chooses itself. Throws NO_AGENT_FITS when there is
 * none, and AGENT_UNAVAILABLE when the offered agent is not online: only the offered agent is paid.
 */
export async function chooseMatch(ctx: ChoosingContext, caller: KnownCaller, asked: AskedAuto): Promise<Choice> {
  const { body, offeredId, leastMicro } = asked;
  const mostMicro = withinKey(caller, parseUsdc(body.maxCost));
  const except = caller.kind === 'agent' ? [caller.agentId] : [];
  const match = (tried: readonly string[]) =>
    matchTask(ctx, {
      words: taskWords(body.task),
      capabilities: [...(body.capabilities ?? []), ...(body.capability === undefined ? [] : [body.capability])],
      mostMicro: rateWithin(mostMicro, body),
      leastMicro: rateReaching(leastMicro, body),
      takesFree: true,
      among: caller.kind === 'account' ? caller.limits.allowedAgents : null,
      ...{ except, seen: tried },
      also: offeredId,
    });
  const best = await match([]);
  if (offeredId !== null) return chooseOffered(ctx, caller, { body, offeredId, ...best });
  const fits = (priceMicro: bigint) => priceMicro <= mostMicro && (priceMicro === 0n || priceMicro >= leastMicro);
  const tried: string[] = [];
  let round: TaskMatching = best;
  let ranked = 0;
  for (let rounds = 1; ; rounds++) {
    const choice = await firstCallable(ctx, caller, { body, fits, round, ranked, of: best.considered });
    if (choice) return choice;
    if (round.isLast || rounds === MAX_ROUNDS) throw noAgentFits(body, mostMicro, best);
    tried.push(...round.seen);
    ranked += round.matches.length;
    round = await match(tried);
  }
}

/** The first match of a round that is online, takes the input and fits by its price; null: none. */
async function firstCallable(
  ctx: ChoosingContext,
  caller: KnownCaller,
  among: { body: AutoRequest; fits: (priceMicro: bigint) => boolean; round: TaskMatching; ranked: number; of: number },
): Promise<Choice | null> {
  const { body, fits, round, ranked, of } = among;
  for (const [index, match] of round.matches.entries()) {
    const agent = await ctx.agentFinder.find(match.agent.id);
    if (agent?.status !== 'online' || (agent.home && isPassedOn(caller, null))) continue;
    if (!(await ctx.typeChecks.fits(agent, body))) continue;
    const choice = toChoice(agent, body, match, { rank: ranked + index + 1, considered: of });
    if (fits(choice.priceMicro)) return choice;
  }
  return null;
}

async function chooseOffered(
  ctx: ChoosingContext,
  caller: KnownCaller,
  offer: { body: AutoRequest; offeredId: string; matches: readonly TaskMatch[]; considered: number },
): Promise<Choice> {
  const { body, offeredId, matches, considered } = offer;
  const agent = await ctx.agentFinder.find(offeredId);
  if (agent && agent.status !== 'online') throw await unavailable(ctx, agent);
  const match = matches.find((each) => each.agent.id === offeredId);
  if (!agent || !match) throw noAgentFits(body, parseUsdc(body.maxCost), { considered, cheapestMicro: null });
  await ctx.typeChecks.requireInput(agent, body);
  const choice = toChoice(agent, body, match, { rank: null, considered });
  requireWithinLimits(caller, agent.id, choice.priceMicro);
  return choice;
}

function toChoice(
  agent: CallableAgent,
  body: AutoRequest,
  { score, parts }: TaskMatch,
  place: { rank: number | null; considered: number },
): Choice {
  const priceMicro = priceOf(agent, body).totalMicro;
  const chosen = { agentId: agent.id, score, ...place, parts };
  return { agent, priceMicro, quoteId: null, requestedAgentId: null, chosen };
}

/** The lowest of the maximum cost and the key's limits. */
function withinKey(caller: KnownCaller, mostMicro: bigint): bigint {
  if (caller.kind !== 'account') return mostMicro;
  const { perCallMicro, perDayMicro } = caller.limits;
  const limits = [mostMicro, perCallMicro, perDayMicro].filter((limit) => limit !== null);
  return limits.reduce((least, limit) => (limit < least ? limit : least));
}

function noAgentFits(
  body: AutoRequest,
  mostMicro: bigint,
  { considered, cheapestMicro }: { considered: number; cheapestMicro: bigint | null },
): AppError<'NO_AGENT_FITS'> {
  if (cheapestMicro === null)
    return new AppError(
      'NO_AGENT_FITS',
      'No online agent matches the task and the capabilities. Nothing was charged.',
      {
        details: { considered, cheapest: null },
      },
    );
  const leastMicro = priceOf(
    { perRequestMicro: cheapestMicro, takesHints: false, perUnit: null, sizeSteps: null },
    body,
  ).totalMicro;
  const cheapest = formatUsdc(leastMicro);
  const most = formatUsdc(mostMicro);
  const reason =
    leastMicro > mostMicro
      ? `can be called for at most ${most} USDC; the lowest price is ${cheapest} USDC`
      : `takes this call for at most ${most} USDC`;
  const message = `None of the ${considered} online agents that match ${reason}. Nothing was charged.`;
  return new AppError('NO_AGENT_FITS', message, { details: { considered, cheapest } });
}
