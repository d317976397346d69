import type { AutoRequest } from '@agent-network/contracts/invocations/auto';
import { formatUsdc, parseUsdc } from '@agent-network/contracts/money';
import { taskWords } from '@agent-network/search-index/words/task-words';
import type { KnownCaller } from '../../accounts/caller.ts';
import { requireWithinLimits } from '../../accounts/spending-limits.ts';
import type { CallableAgent } from '../../agents/agent.ts';
import type { AgentServices } from '../../agents/agent-services.ts';
import { unavailable } from '../../agents/search/find-agent.ts';
import { findOnlineOf, matchTask, type TaskMatch, type TaskMatching } from '../../agents/search/match-task.ts';
import { AppError } from '../../lib/app-error.ts';
import type { PaymentConditions } from '../../payments/chain-outbox/chain-context.ts';
import type { Ledger } from '../../payments/ledger/ledger-services.ts';
import type { Store } from '../../store/database.ts';
import { priceOf, rateReaching, rateWithin } from '../pricing/price.ts';
import { isPassedOn } from '../remote/require-at-home.ts';
import { type Choice, retryOnAgentChange } from './choose-agent.ts';
import { findEarlierCall, retryAsReplay } from './find-earlier-call.ts';
import { AUTO } from './invocation-purchase.ts';
import { startChosen } from './invoke-agent.ts';
import type { InvokeContext, Invoked, InvokeInput } from './invoke-input.ts';
import { chooseMethod } from './require-payable.ts';

type AutoInput = Omit<InvokeInput, 'agentId' | 'quoteId' | 'via' | 'body'> & { readonly body: AutoRequest };

/**
 * Starts an invocation of the agent that matches the task best, or finds the one that the key or the shown payment was for. A payment pays
 * for the agent that its offer named, and for no other. Nothing is stored before the choice is accepted together with its payment: a process
 * that dies until then has chosen nothing.
 */
export const invokeAuto = (ctx: InvokeContext, caller: KnownCaller, input: AutoInput): Promise<Invoked> =>
  retryOnAgentChange(ctx, () => retryAsReplay(input, () => decide(ctx, caller, input)));

/** Throws AgentChangedError when the chosen agent changed before the request was stored; then choose again. */
async function decide(ctx: InvokeContext, caller: KnownCaller, given: AutoInput): Promise<Invoked> {
  const asAuto = { ...given, agentId: AUTO, quoteId: null, via: null };
  const { input, earlier, offeredId } = await findEarlierCall(ctx, caller, asAuto, null);
  if (earlier) return earlier;
  const asked = { body: given.body, offeredId, leastMicro: await leastPayable(ctx, caller, given) };
  return startChosen(ctx, caller, input, await chooseMatch(ctx, caller, asked));
}

/** The lowest price above 0 that the caller can pay: on chain there is a minimum, which a dearer agent is chosen for. */
async function leastPayable(
  ctx: Ledger & PaymentConditions,
  caller: KnownCaller,
  { shown, forced, body }: AutoInput,
): Promise<bigint> {
  if (forced === 'treasury') return 0n;
  const { method } = await chooseMethod(ctx, caller, { shown, forced }, parseUsdc(body.maxCost));
  return method === 'x402' ? ctx.paymentLimits.minPaymentMicro : 0n;
}

type ChoosingContext = AgentServices & Store;

interface AskedAuto {
  readonly body: AutoRequest;
  /** The lowest price above 0 that the caller can pay. */
  readonly leastMicro: bigint;
  /** The agent that the shown payment was offered for; null: none. */
  readonly offeredId: string | null;
}

/** Some dozens of matches are ranked in each; those before them can't be called, or refuse the input. */
const MAX_ROUNDS = 10;
/** Agents that are looked at before the search ends with the round. */
const MAX_LOOKED = 200;
/** Agents of one account that are looked at in vain before its others come after those of all other accounts. */
const MAX_OF_ACCOUNT = 8;

/** Progress of the search for an agent. */
interface Search {
  /** Agents that were looked at in vain. */
  readonly looked: string[];
  /** Number of these by account, for agents of this node, as the account of another node has agents of many owners. */
  readonly ofAccount: Map<string, number>;
  /** Number of them that were ranked; the others had gone offline. */
  ranked: number;
  /** See MAX_OF_ACCOUNT. */
  most: number;
}

/**
 * The agent that a payment was offered for, or without one the best match that can be called, and paid, within `maxCost` and the limits of
 * the key. Agents of the caller's own account are taken like others; a calling agent never chooses itself. Throws NO_AGENT_FITS when there is
 * none, and AGENT_UNAVAILABLE when the offered agent is not online: only the offered agent is paid.
 */
async function chooseMatch(ctx: ChoosingContext, caller: KnownCaller, asked: AskedAuto): Promise<Choice> {
  const { body, offeredId, leastMicro } = asked;
  const maxMicro = withinKey(caller, parseUsdc(body.maxCost));
  const except = caller.kind === 'agent' ? [caller.agentId] : [];
  const match = (seen: readonly string[]) =>
    matchTask(ctx, {
      words: taskWords(body.task),
      capabilities: [...(body.capabilities ?? []), ...(body.capability === undefined ? [] : [body.capability])],
      maxMicro: rateWithin(maxMicro, body),
      leastMicro: rateReaching(leastMicro, body),
      takesFree: true,
      among: caller.kind === 'account' ? caller.limits.allowedAgents : null,
      ...{ except, seen },
      also: offeredId,
    });
  const best = await match([]);
  if (offeredId !== null) return chooseOffered(ctx, caller, { body, offeredId, ...best });
  const fits = (priceMicro: bigint) => priceMicro <= maxMicro && (priceMicro === 0n || priceMicro >= leastMicro);
  const search: Search = { looked: [], ofAccount: new Map(), ranked: 0, most: MAX_OF_ACCOUNT };
  let round: TaskMatching = best;
  for (let rounds = 1; ; rounds++) {
    const choice = await firstCallable(ctx, caller, { body, fits, round, search, of: best.considered });
    if (choice) return choice;
    const putBack = exhaustedIn(search);
    const isWhole = round.isLast && putBack.length === 0;
    if (isWhole || rounds === MAX_ROUNDS || search.looked.length >= MAX_LOOKED)
      throw noAgentFits(body, maxMicro, { ...best, looked: isWhole ? null : search.looked.length });
    if (round.isLast) search.most = Number.POSITIVE_INFINITY;
    round = await match([...search.looked, ...(await findOnlineOf(ctx, round.isLast ? [] : putBack))]);
  }
}

/** Accounts that reached the limit of agents; their other agents come last. */
const exhaustedIn = ({ ofAccount, most }: Search): string[] =>
  [...ofAccount].flatMap(([accountId, count]) => (count >= most ? [accountId] : []));

/** The first match of a round that is online, takes the input and fits by its price; null: none. Those before it are noted in the search. */
async function firstCallable(
  ctx: ChoosingContext,
  caller: KnownCaller,
  among: { body: AutoRequest; fits: (priceMicro: bigint) => boolean; round: TaskMatching; search: Search; of: number },
): Promise<Choice | null> {
  const { body, fits, round, search, of } = among;
  const { looked, ofAccount } = search;
  for (const match of round.matches) {
    const { id, accountId, homeNode } = match.agent;
    const count = homeNode === null ? (ofAccount.get(accountId) ?? 0) : 0;
    if (count >= search.most) continue;
    const agent = await ctx.agentFinder.find(id);
    const isCallable = agent?.status === 'online' && !(agent.home && isPassedOn(caller, null));
    if (isCallable && (await ctx.typeChecks.fits(agent, body, caller))) {
      const choice = toChoice(agent, body, match, { rank: search.ranked + 1, considered: of });
      if (fits(choice.priceMicro)) return choice;
    }
    looked.push(id);
    search.ranked++;
    if (homeNode === null) ofAccount.set(accountId, count + 1);
  }
  const shown = new Set(round.matches.map(({ agent }) => agent.id));
  looked.push(...round.seen.filter((id) => !shown.has(id)));
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
  if (!agent || !match)
    throw noAgentFits(body, parseUsdc(body.maxCost), { considered, cheapestMicro: null, looked: null });
  await ctx.typeChecks.requireInput(agent, body, caller);
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
  const { totalMicro: priceMicro, usageTerms } = priceOf(agent, body);
  const chosen = { agentId: agent.id, score, ...place, parts };
  const { shownShare } = agent;
  return { agent, priceMicro, usageTerms, shownShare, quoteId: null, requestedAgentId: null, chosen };
}

/** The lowest of the maximum cost and the key's limits. */
function withinKey(caller: KnownCaller, maxMicro: bigint): bigint {
  if (caller.kind !== 'account') return maxMicro;
  const { perCallMicro, perDayMicro } = caller.limits;
  const limits = [maxMicro, perCallMicro, perDayMicro].filter((limit) => limit !== null);
  return limits.reduce((least, limit) => (limit < least ? limit : least));
}

/** `looked`: how many of them were looked at; null: all. */
function noAgentFits(
  body: AutoRequest,
  maxMicro: bigint,
  { considered, cheapestMicro, looked }: { considered: number; cheapestMicro: bigint | null; looked: number | null },
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
    { perRequestMicro: cheapestMicro, takesHints: false, perUnit: null, perUsage: null, sizeSteps: null },
    body,
  ).totalMicro;
  const cheapest = formatUsdc(leastMicro);
  const most = formatUsdc(maxMicro);
  const reason =
    leastMicro > maxMicro
      ? `can be called for at most ${most} USDC; the lowest price is ${cheapest} USDC`
      : `takes this call for at most ${most} USDC`;
  const first = looked === null ? '' : `first ${looked} of `;
  const message = `None of the ${first}${considered} online agents that match ${reason}. Nothing was charged.`;
  return new AppError('NO_AGENT_FITS', message, { details: { considered, cheapest } });
}
