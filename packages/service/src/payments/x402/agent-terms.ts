import { formatUsdc } from '@agent-network/contracts/money';
import { PayableTerms } from '@agent-network/contracts/payments/x402';
import { isDeeperThan } from '../../lib/json/json-depth.ts';
import { parseJsonText } from '../../lib/json/json-text.ts';
import { type KnowsOwn, payeeProblem } from './payee.ts';

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
 * Parses a 402 answer as stock x402 clients do: the header PAYMENT-REQUIRED is version 2, otherwise the body is version 1. Of the entries
 * that the node can pay, takes the first cheapest.
 */
export function readAgentTerms(ctx: KnowsOwn, answer: BillAnswer, mostMicro: bigint): AgentTerms | BillProblem {
  const asked = readAsked(answer);
  if (asked === null) return notPayable('it has no readable x402 terms');
  const payable: AgentTerms[] = [];
  let firstProblem: string | null = null;
  for (const accepted of asked.accepts) {
    const terms = readEntry(ctx, asked, accepted);
    if (typeof terms === 'string') firstProblem ??= terms;
    else payable.push(terms);
  }
  const cheapest = payable.reduce<AgentTerms | null>(
    (least, each) => (least === null || each.amountMicro < least.amountMicro ? each : least),
    null,
  );
  if (cheapest === null) return notPayable(firstProblem ?? 'it accepts nothing');
  if (cheapest.amountMicro <= mostMicro) return cheapest;
  const [asks, price] = [formatUsdc(cheapest.amountMicro), formatUsdc(mostMicro)];
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

function readAsked({ headers, body }: BillAnswer): Asked | null {
  const header = headers['payment-required'];
  if (Array.isArray(header)) return null;
  const version = header === undefined ? 1 : 2;
  const value = parse(header === undefined ? body.toString('utf8') : Buffer.from(header, 'base64').toString('utf8'));
  if (value?.x402Version !== version || !Array.isArray(value.accepts)) return null;
  const echoed = version === 2 ? value : {};
  return {
    version,
    accepts: value.accepts.filter(isJson),
    resource: echoed.resource,
    extensions: echoed.extensions,
  };
}

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
  const amount = version === 2 ? accepted.amount : accepted.maxAmountRequired;
  const parsed = PayableTerms.safeParse({ ...accepted, amount, extra: accepted.extra ?? {} });
  if (!parsed.success) return 'its terms are malformed';
  const problem = problemOf(ctx, version, parsed.data);
  if (problem !== null) return problem;
  return {
    ...echo,
    version,
    amountMicro: BigInt(parsed.data.amount),
    payTo: parsed.data.payTo.toLowerCase(),
    windowS: Math.floor(parsed.data.maxTimeoutSeconds),
  };
}

function problemOf(ctx: KnowsOwn, version: 1 | 2, { extra, ...entry }: PayableTerms): string | null {
  const { chain } = ctx;
  if (entry.scheme !== 'exact') return 'it does not offer the scheme "exact"';
  if (entry.network !== (version === 2 ? chain.caip2 : chain.name)) return 'it requires payment on another network';
  if (entry.asset.toLowerCase() !== chain.token) return 'it requires payment in another token';
  if (extra.name !== chain.tokenName || extra.version !== chain.tokenVersion)
    return `it does not name the token "${chain.tokenName}", version "${chain.tokenVersion}"`;
  if (extra.assetTransferMethod !== 'eip3009') return 'it does not accept EIP-3009 authorizations';
  if (!flows.has(extra.paymentFlow)) return 'it requires an unsupported payment flow';
  if (BigInt(entry.amount) === 0n) return 'it asks for nothing';
  const payee = payeeProblem(ctx, entry.payTo);
  return payee === null ? null : `its recipient ${payee}`;
}
