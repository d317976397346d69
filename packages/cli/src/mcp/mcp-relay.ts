import { alteredNumber, alteredProblem } from '@agent-network/contracts/altered-number';
import { formatUsdc, parseUsdc, usdcPattern } from '@agent-network/contracts/money';
import { type Payer, PaymentRefusedError } from '@agent-network/sdk';
import {
  asksForPayment,
  isAnswerTo,
  isCancellation,
  isRequest,
  type McpMessage,
  purchaseOf,
  readMessage,
  tellsOutcome,
  withPayment,
} from './mcp-message.ts';
import { createMcpNode } from './mcp-node.ts';

export interface RelayOptions {
  readonly url: string;
  readonly apiKey: string | null;
  /** Calls that may cost more are refused; null: the node's limits only. */
  readonly maxPerCallMicro: bigint | null;
  /** Pays terms that the node asks for; null: they are passed on. */
  readonly payer: Payer | null;
  readonly write: (message: object) => void;
}

/** Tools that spend: of `/mcp`, and of the endpoint of one agent. */
const SPENDING_TOOLS: readonly unknown[] = ['invoke_agent', 'invoke_best', 'invoke'];
/** Maximum payments of unknown outcome to remember; the oldest is dropped first. */
const MAX_UNSETTLED = 100;

/** Relays messages between an MCP client on stdio and the node's `/mcp`. Pays for calls, within a spending limit. */
export function createMcpRelay({ url, apiKey, maxPerCallMicro, payer, write }: RelayOptions) {
  const node = createMcpNode({ url, apiKey });
  const unsettled = createUnsettled();
  const running = new Map<McpMessage['id'], AbortController>();

  /**
   * Sends a message, with a payment if there is one, and writes its answers. Resolves to the answer that asks for payment, unwritten.
   * Throws when a request got no answer. One that comes after the client has cancelled counts as none: the client drops it.
   */
  async function attempt(message: McpMessage, payment: unknown, signal: AbortSignal): Promise<McpMessage | null> {
    let asking: McpMessage | null = null;
    let isAnswered = false;
    const held = unsettled.hold(message, payment, signal);
    try {
      const take = (answer: McpMessage) => {
        if (signal.aborted) return;
        if (!isAnswerTo(answer, message)) return write(answer);
        isAnswered = true;
        if (tellsOutcome(answer)) held.settle();
        if (asksForPayment(answer)) asking = answer;
        else write(answer);
      };
      await node.send(payment === undefined ? message : withPayment(message, payment), take, signal);
      if (isRequest(message) && !isAnswered) throw new Error('The node broke off without an answer.');
    } finally {
      held.end();
    }
    return asking;
  }

  async function relay(message: McpMessage, signal: AbortSignal): Promise<void> {
    const asking = await attempt(message, unsettled.take(message), signal);
    const maxMicro = maxCostOf(message);
    const isPaid = asking && payer && maxMicro !== null;
    if (isPaid) signal.throwIfAborted();
    const refused = isPaid ? await attempt(message, await payFor(payer, asking, maxMicro), signal) : asking;
    if (refused) write(refused);
  }

  return async (line: string): Promise<void> => {
    const message = readMessage(line);
    if (!message) {
      write({ jsonrpc: '2.0', id: null, error: { code: -32700, message: 'Parse error' } });
      return;
    }
    // The node is not told: it knows by the closed connection that nobody got the answer, and an identical call finds the purchase.
    if (isCancellation(message)) return running.get(message.params?.requestId)?.abort();
    const altered = isRequest(message) ? alteredIn(line) : null;
    if (altered) return write({ jsonrpc: '2.0', id: message.id, error: { code: -32602, message: altered } });
    const cancelled = new AbortController();
    if (isRequest(message)) running.set(message.id, cancelled);
    try {
      const excess = overLimit(message, maxPerCallMicro);
      if (excess) write({ jsonrpc: '2.0', id: message.id, result: toolError('OVER_MAX_PER_CALL', excess) });
      else await relay(message, cancelled.signal);
    } catch (error) {
      if (isRequest(message) && !cancelled.signal.aborted)
        write({ jsonrpc: '2.0', id: message.id, ...failureOf(error) });
    } finally {
      if (running.get(message.id) === cancelled) running.delete(message.id);
    }
  };
}

function failureOf(error: unknown) {
  const text = error instanceof Error ? error.message : String(error);
  if (error instanceof PaymentRefusedError) return { result: toolError('PAYMENT_REFUSED', text) };
  return { error: { code: -32000, message: text } };
}

/**
 * The fault of a number in a message, or null. The message is serialized again before it is sent, so the node would not see that the number
 * has changed.
 */
function alteredIn(line: string): string | null {
  const altered = alteredNumber(line);
  return altered && `Invalid params: ${altered.path} ${alteredProblem(altered)}`;
}

/** Signed payments of unknown outcome, by purchase. The same call presents the same payment, which can't pay twice. */
function createUnsettled() {
  const payments = new Map<string, unknown>();
  function remember(message: McpMessage, payment: unknown): void {
    payments.set(purchaseOf(message), payment);
    for (const oldest of payments.keys()) {
      if (payments.size <= MAX_UNSETTLED) return;
      payments.delete(oldest);
    }
  }
  return {
    /**
     * Remembers the payment of an attempt, if there is one, unless `settle` comes first: at its end, or at the abort itself, since the
     * repetition may be the client's next line, which is read at once.
     */
    hold(message: McpMessage, payment: unknown, signal: AbortSignal) {
      let isSettled = payment === undefined;
      const settle = () => {
        isSettled = true;
      };
      const keep = () => {
        if (!isSettled) remember(message, payment);
        settle();
      };
      signal.addEventListener('abort', keep, { once: true });
      const end = () => {
        signal.removeEventListener('abort', keep);
        keep();
      };
      return { settle, end };
    },
    /** Removes and returns the payment of this purchase; undefined: there is none. */
    take(message: McpMessage): unknown {
      if (payments.size === 0) return undefined;
      const purchase = purchaseOf(message);
      const payment = payments.get(purchase);
      payments.delete(purchase);
      return payment;
    },
  };
}

/** Has the payer sign an offer that is within the call's own `maxCost`. */
async function payFor(payer: Payer, { result }: McpMessage, maxMicro: bigint): Promise<unknown> {
  const offers = Array.isArray(result?.structuredContent?.accepts) ? result.structuredContent.accepts : [];
  const accepts = offers.filter((offer) => amountOf(offer) <= maxMicro);
  if (accepts.length < offers.length && accepts.length === 0)
    throw new PaymentRefusedError(
      'above_cap',
      `The call costs more than its maxCost of ${formatUsdc(maxMicro)} USDC: nothing was paid`,
    );
  const terms = Buffer.from(JSON.stringify({ ...result?.structuredContent, accepts })).toString('base64');
  const { 'payment-signature': signed } = await payer.pay(terms);
  return JSON.parse(Buffer.from(signed, 'base64').toString('utf8'));
}

/** Amount of an offer; 0 when it cannot be read: the payer refuses it. */
function amountOf(offer: unknown): bigint {
  const { amount } = (offer ?? {}) as { readonly amount?: unknown };
  return typeof amount === 'string' && /^\d{1,30}$/.test(amount) ? BigInt(amount) : 0n;
}

/** The most that a call of an agent may cost, as it says itself; null for any other message, and where a node would not read it. */
function maxCostOf({ method, params }: McpMessage): bigint | null {
  if (method !== 'tools/call' || !SPENDING_TOOLS.includes(params?.name)) return null;
  const { maxCost } = params?.arguments ?? {};
  return typeof maxCost === 'string' && usdcPattern.test(maxCost) ? parseUsdc(maxCost) : null;
}

function overLimit(message: McpMessage, maxMicro: bigint | null): string | null {
  const costMicro = maxCostOf(message);
  if (maxMicro === null || costMicro === null || costMicro <= maxMicro) return null;
  return `maxCost ${formatUsdc(costMicro)} is more than the limit of ${formatUsdc(maxMicro)} USDC for one call (agentnet mcp --max-per-call).`;
}

const toolError = (code: string, message: string) => {
  const structuredContent = { error: { code, message } };
  const content = [{ type: 'text', text: JSON.stringify(structuredContent) }];
  // Clients of 2026-07-28 refuse a result that does not say what it is; earlier ones pass it over.
  return { isError: true, content, structuredContent, resultType: 'complete' };
};
