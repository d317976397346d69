import { canonicalJson } from '@agent-network/contracts/canonical-json';
import { formatUsdc, parseUsdc, usdcPattern } from '@agent-network/contracts/money';
import { type Payer, PaymentRefusedError } from '@agent-network/sdk';
import { createParser } from 'eventsource-parser';

export interface RelayOptions {
  readonly url: string;
  readonly apiKey: string | null;
  /** Calls that may cost more are refused; null: the node's limits only. */
  readonly maxPerCallMicro: bigint | null;
  /** Pays terms that the node asks for; null: they are passed on. */
  readonly payer: Payer | null;
  readonly write: (message: object) => void;
}

interface Message {
  readonly jsonrpc?: unknown;
  readonly id?: string | number | null;
  readonly method?: string;
  readonly params?: {
    readonly name?: string;
    readonly arguments?: Readonly<Record<string, unknown>>;
    readonly _meta?: Readonly<Record<string, unknown>>;
  };
  readonly result?: {
    readonly protocolVersion?: string;
    readonly isError?: boolean;
    readonly structuredContent?: { readonly x402Version?: unknown; readonly status?: unknown };
  };
}

/** More than any answer of a node. */
const MAX_ANSWER_CHARS = 16 * 1024 * 1024;
const VERSION_KEY = 'io.modelcontextprotocol/protocolVersion';
const SPENDING_TOOL = 'invoke_agent';
/** Payments of unknown outcome that are remembered; beyond them the oldest is forgotten. */
const MAX_UNSETTLED = 100;

/** Passes messages of an MCP client on stdio on to the node's `/mcp`, and its answers back. Pays and bounds what is spent. */
export function createMcpRelay({ url, apiKey, maxPerCallMicro, payer, write }: RelayOptions) {
  let protocolVersion: string | null = null;

  /** Sends a message; each message of the answer goes to `take`. */
  async function send(message: Message, take: (answer: Message) => void): Promise<void> {
    const version = message.params?._meta?.[VERSION_KEY] ?? protocolVersion;
    const response = await fetch(`${url}/mcp`, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        ...(apiKey === null ? {} : { authorization: `Bearer ${apiKey}` }),
        ...(typeof version === 'string' ? { 'mcp-protocol-version': version } : {}),
        ...standardHeaders(message, version),
      },
      body: JSON.stringify(message),
      // The key and the payment are for this node alone.
      redirect: 'manual',
    });
    const type = response.headers.get('content-type') ?? '';
    if (type.startsWith('text/event-stream') && response.body) {
      const onEvent = ({ data }: { data: string }) => take(JSON.parse(data) as Message);
      const parser = createParser({ onEvent, maxBufferSize: MAX_ANSWER_CHARS });
      const decoder = new TextDecoder();
      for await (const part of response.body) parser.feed(decoder.decode(part, { stream: true }));
      return;
    }
    const text = await wholeOf(response);
    if (text === '') return;
    const answer = readMessage(text);
    if (answer?.jsonrpc) take(answer);
    else throw new Error(`${url}/mcp answered ${response.status}: ${text.slice(0, 300)}`);
  }

  /** Signed payments whose outcome the client did not learn, by purchase: the same call shows the same payment, which never pays twice. */
  const unsettled = new Map<string, unknown>();
  const remember = (purchase: string, payment: unknown) => {
    unsettled.set(purchase, payment);
    for (const oldest of unsettled.keys()) {
      if (unsettled.size <= MAX_UNSETTLED) return;
      unsettled.delete(oldest);
    }
  };

  /** Sends a message, with a payment if there is one, and writes its answers. Resolves to the answer that asks for payment, unwritten. */
  async function attempt(message: Message, payment: unknown): Promise<Message | null> {
    let asking: Message | null = null;
    let isSettled = payment === undefined;
    try {
      await send(payment === undefined ? message : withPayment(message, payment), (answer) => {
        if (message.method === 'initialize') protocolVersion = answer.result?.protocolVersion ?? protocolVersion;
        if (!isAnswerTo(answer, message)) return write(answer);
        isSettled ||= tellsOutcome(answer);
        if (asksForPayment(answer)) asking = answer;
        else write(answer);
      });
    } finally {
      if (!isSettled) remember(purchaseOf(message), payment);
    }
    return asking;
  }

  async function relay(message: Message): Promise<void> {
    const purchase = unsettled.size === 0 ? '' : purchaseOf(message);
    const known = unsettled.get(purchase);
    unsettled.delete(purchase);
    const asking = await attempt(message, known);
    const refused = asking && payer ? await attempt(message, await payFor(payer, asking)) : asking;
    if (refused) write(refused);
  }

  return async (line: string): Promise<void> => {
    const message = readMessage(line);
    if (!message) {
      write({ jsonrpc: '2.0', id: null, error: { code: -32700, message: 'Parse error' } });
      return;
    }
    try {
      const excess = overLimit(message, maxPerCallMicro);
      if (excess) write({ jsonrpc: '2.0', id: message.id, result: toolError('OVER_MAX_PER_CALL', excess) });
      else await relay(message);
    } catch (error) {
      if (message.id === undefined) return;
      const text = error instanceof Error ? error.message : String(error);
      if (error instanceof PaymentRefusedError)
        write({ jsonrpc: '2.0', id: message.id, result: toolError('PAYMENT_REFUSED', text) });
      else write({ jsonrpc: '2.0', id: message.id, error: { code: -32000, message: text } });
    }
  };
}

/** The text of an answer, which a hostile node could go on with for ever. */
async function wholeOf({ body, url }: Response): Promise<string> {
  const decoder = new TextDecoder();
  let text = '';
  for await (const part of body ?? []) {
    text += decoder.decode(part, { stream: true });
    if (text.length > MAX_ANSWER_CHARS) throw new Error(`${url} answered more than 16 MiB.`);
  }
  return text;
}

function readMessage(text: string): Message | null {
  try {
    const value: unknown = JSON.parse(text);
    return value !== null && typeof value === 'object' && !Array.isArray(value) ? value : null;
  } catch {
    return null;
  }
}

/** Headers by which newer servers route a message without reading it. */
function standardHeaders({ method, params }: Message, version: unknown): Record<string, string> {
  if (typeof version !== 'string' || version < '2026' || method === undefined) return {};
  return { 'mcp-method': method, ...(params?.name === undefined ? {} : { 'mcp-name': params.name }) };
}

const isAnswerTo = (answer: Message, { id }: Message) => id !== undefined && answer.id === id;
const asksForPayment = ({ result }: Message) => result?.isError === true && result.structuredContent?.x402Version === 2;

/** True if the answer says what became of a payment: it bought something, or the node asks for another. An error without a record does not. */
const tellsOutcome = (answer: Message): boolean =>
  asksForPayment(answer) ||
  (answer.result !== undefined && (!answer.result.isError || answer.result.structuredContent?.status !== undefined));

/** The name of a purchase: the same call has the same one. */
const purchaseOf = ({ method, params }: Message): string =>
  canonicalJson([method, params?.name, params?.arguments ?? {}]);

const withPayment = (message: Message, payment: unknown): Message => ({
  ...message,
  params: { ...message.params, _meta: { ...message.params?._meta, 'x402/payment': payment } },
});

async function payFor(payer: Payer, { result }: Message): Promise<unknown> {
  const terms = Buffer.from(JSON.stringify(result?.structuredContent)).toString('base64');
  const { 'payment-signature': signed } = await payer.pay(terms);
  return JSON.parse(Buffer.from(signed, 'base64').toString('utf8'));
}

function overLimit({ method, params }: Message, maxMicro: bigint | null): string | null {
  if (maxMicro === null || method !== 'tools/call' || params?.name !== SPENDING_TOOL) return null;
  const { maxCost } = params.arguments ?? {};
  if (typeof maxCost !== 'string' || !usdcPattern.test(maxCost) || parseUsdc(maxCost) <= maxMicro) return null;
  return `maxCost ${maxCost} is more than the limit of ${formatUsdc(maxMicro)} USDC for one call (agentnet mcp --max-per-call).`;
}

const toolError = (code: string, message: string) => {
  const structuredContent = { error: { code, message } };
  return { isError: true, content: [{ type: 'text', text: JSON.stringify(structuredContent) }], structuredContent };
};
