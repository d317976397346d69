import { formatUsdc } from '@agent-network/contracts/money';
import { PayableTerms } from '@agent-network/contracts/payments/x402';
import type { z } from 'zod';
import { isDeeperThan } from '../../lib/json/json-limits.ts';
import { parseJsonText } from '../../lib/json/json-object.ts';
import { problemText } from '../../lib/json/problem-text.ts';
import { type KnowsOwn, payeeProblem } from './open-addresses.ts';

/** Payment terms of an agent that answered 402, in a form that the node can pay. */
export interface AgentTerms {
  readonly version: 1 | 2;
  readonly amountMicro: bigint;
  /** Lower case. */
  readonly payTo: string;
  /** Validity of the payment, in seconds. */
  readonly windowS: number;
  /** The entry of `accepts`, and the fields that a v2 payment echoes with it, as the agent wrote them. */
  readonly accepted: Json;
  readonly resource: unknown;
  readonly extensions: unknown;
}

export interface BillProblem {
  readonly reason: 'bill_too_high' | 'bill_not_payable';
  readonly message: string;
}

type Json = Record<string, unknown>;

export interface BillAnswer {
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: Buffer;
}

/** Limit of the echoed fields: they are sent back in a header, where servers accept 8 to 16 KiB in total. */
const MAX_ECHO_BYTES = 4096;
const MAX_DEPTH = 16;

/** Payment flows in which one payment buys one answer (x402 2.2x); the default is `authorization`. */
const flows = new Set(['authorization', 'upfront']);

/**
 * Parses a 402 answer as stock x402 clients do: the header PAYMENT-REQUIRED is version 2, otherwise the body is version 1. Chooses the
 * first of the cheapest entries that the node can pay. If it can pay none, returns a message for the agent's owner with field, value and
 * remedy.
 */
export function readAgentTerms(ctx: KnowsOwn, answer: BillAnswer, maxMicro: bigint): AgentTerms | BillProblem {
  const asked = readAsked(answer);
  if (typeof asked === 'string') return notPayable(asked);
  const payable: AgentTerms[] = [];
  let firstProblem: string | null = null;
  for (const [index, accepted] of asked.accepts.entries()) {
    const terms = readEntry(ctx, asked, accepted);
    if (typeof terms === 'string') firstProblem ??= terms.replace('accepts[]', `accepts[${index}]`);
    else payable.push(terms);
  }
  const cheapest = payable.reduce<AgentTerms | null>(
    (least, each) => (least === null || each.amountMicro < least.amountMicro ? each : least),
    null,
  );
  if (cheapest === null) return notPayable(firstProblem ?? '`accepts` names nothing: offer the scheme "exact"');
  if (cheapest.amountMicro <= maxMicro) return cheapest;
  const [asks, price] = [formatUsdc(cheapest.amountMicro), formatUsdc(maxMicro)];
  return {
    reason: 'bill_too_high',
    message: `The agent bills ${asks} USDC, which is more than the price of ${price}.`,
  };
}

const notPayable = (what: string): BillProblem => ({
  reason: 'bill_not_payable',
  message: `The agent's bill cannot be paid: ${what}.`,
});

interface Asked {
  readonly version: 1 | 2;
  readonly accepts: readonly Json[];
  readonly resource: unknown;
  readonly extensions: unknown;
}

/** The terms of the header, else of the body; a text says why there are none. */
function readAsked({ headers, body }: BillAnswer): Asked | string {
  const header = headers['payment-required'];
  if (Array.isArray(header)) return 'PAYMENT-REQUIRED is sent more than once: send one';
  const inBody = parse(body.toString('utf8'));
  const [place, version, value] =
    header === undefined ? (['body', 1, inBody] as const) : (['PAYMENT-REQUIRED', 2, decodeHeader(header)] as const);
  if (value === null)
    return `${place} holds no readable x402 terms: send them as JSON${version === 2 ? ' in base64' : ''}`;
  if (isJson(value.x402) && value.accepts === undefined)
    return `its terms are under \`x402\` with the scheme ${shown(value.x402.scheme)}: send x402Version and \`accepts\` at the top, with the scheme "exact"`;
  if (value.x402Version !== version)
    return `x402Version of ${place} is ${shown(value.x402Version)}: send ${version} there`;
  if (!Array.isArray(value.accepts)) return `\`accepts\` of ${place} is ${shown(value.accepts)}: send a list`;
  const echoed = version === 2 ? value : {};
  // Some services name the resource in the body alone.
  const resource = echoed.resource ?? (version === 2 && inBody?.x402Version === 2 ? inBody.resource : undefined);
  return { version, accepts: value.accepts.filter(isJson), resource, extensions: echoed.extensions };
}

/** Decodes JSON in base64 of either alphabet, or plain JSON. */
const decodeHeader = (header: string): Json | null =>
  parse(header.trim().startsWith('{') ? header : Buffer.from(header, 'base64').toString('utf8'));

const MAX_SHOWN = 80;

/** A value of the agent's as a message shows it. */
const shown = (value: unknown): string =>
  value === undefined ? 'missing' : (JSON.stringify(value) ?? 'nothing').slice(0, MAX_SHOWN);

const isJson = (value: unknown): value is Json => typeof value === 'object' && value !== null && !Array.isArray(value);

function parse(text: string): Json | null {
  try {
    const value = parseJsonText(text);
    return isJson(value) ? value : null;
  } catch {
    return null;
  }
}

/** The terms, or the reason that the node cannot pay them. */
function readEntry(ctx: KnowsOwn, asked: Asked, accepted: Json): AgentTerms | string {
  const { version, resource, extensions } = asked;
  const echo = { accepted, resource, extensions };
  if (isDeeperThan(echo, MAX_DEPTH) || Buffer.byteLength(JSON.stringify(echo)) > MAX_ECHO_BYTES)
    return 'its terms are too large for a header';
  const elsewhere = elsewhereOf(ctx, version, accepted);
  if (elsewhere !== null) return elsewhere;
  const { amount: newer, maxAmountRequired: older } = accepted;
  if (newer !== undefined && older !== undefined && newer !== older)
    return `accepts[].amount is ${shown(newer)} and maxAmountRequired ${shown(older)}: ask for one price`;
  const parsed = PayableTerms.safeParse(
    { ...accepted, amount: version === 2 ? newer : older, extra: accepted.extra ?? {} },
    { error: problemText },
  );
  if (!parsed.success) return `its terms are malformed: ${malformedField(version, accepted, parsed.error)}`;
  const problem = problemOf(ctx, parsed.data);
  if (problem !== null) return problem;
  return {
    ...echo,
    version,
    amountMicro: BigInt(parsed.data.amount),
    payTo: parsed.data.payTo.toLowerCase(),
    windowS: Math.floor(parsed.data.maxTimeoutSeconds),
  };
}

function malformedField(version: 1 | 2, accepted: Json, { issues: [issue] }: z.ZodError): string {
  const path = issue?.path.map(String) ?? [];
  const name = path[0] === 'amount' && version === 1 ? 'maxAmountRequired' : path.join('.');
  const value = path.reduce<unknown>((at, step) => (isJson(at) ? at[step] : undefined), {
    ...accepted,
    amount: accepted[name],
  });
  return `accepts[].${name} ${value === undefined ? '' : `is ${shown(value)}, and `}${issue?.message}`;
}

/** The objection to terms that other clients may pay: of another scheme, or on another network. They may be of another form altogether. */
function elsewhereOf({ chain }: KnowsOwn, version: 1 | 2, { scheme, network }: Json): string | null {
  if (typeof scheme === 'string' && scheme !== 'exact')
    return `accepts[].scheme is ${shown(scheme)}: offer the scheme "exact" beside it`;
  const own = version === 2 ? chain.caip2 : chain.name;
  if (typeof network === 'string' && network !== own)
    return `accepts[].network is ${shown(network)}: offer the network "${own}" beside it`;
  return null;
}

function problemOf(ctx: KnowsOwn, { extra, ...entry }: PayableTerms): string | null {
  const { chain } = ctx;
  if (entry.asset.toLowerCase() !== chain.token)
    return `accepts[].asset is ${shown(entry.asset)}: ask for the token ${chain.token}`;
  if (extra.name !== chain.tokenName || extra.version !== chain.tokenVersion)
    return `accepts[].extra has the name ${shown(extra.name)} and version ${shown(extra.version)}: name the token "${chain.tokenName}", version "${chain.tokenVersion}"`;
  if (extra.assetTransferMethod !== 'eip3009')
    return `accepts[].extra.assetTransferMethod is ${shown(extra.assetTransferMethod)}: take EIP-3009 authorizations ("eip3009")`;
  if (!flows.has(extra.paymentFlow))
    return `accepts[].extra.paymentFlow is ${shown(extra.paymentFlow)}: use the flow "authorization" or "upfront"`;
  if (BigInt(entry.amount) === 0n) return 'accepts[].amount is "0", so it asks for nothing: answer without a 402';
  const payee = payeeProblem(ctx, entry.payTo);
  return payee === null
    ? null
    : `accepts[].payTo, the recipient ${shown(entry.payTo)}, ${payee}: name a wallet of the agent`;
}
