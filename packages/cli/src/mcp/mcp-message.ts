import { canonicalJson } from '@agent-network/contracts/canonical-json';

/** The fields of a JSON-RPC message of MCP that the relay reads; it passes on all others unchanged. */
export interface McpMessage {
  readonly jsonrpc?: unknown;
  readonly id?: string | number | null;
  readonly method?: string;
  readonly params?: {
    readonly name?: string;
    readonly arguments?: Readonly<Record<string, unknown>>;
    readonly requestId?: string | number;
    readonly _meta?: Readonly<Record<string, unknown>>;
  };
  readonly result?: {
    readonly protocolVersion?: string;
    readonly isError?: boolean;
    readonly resultType?: unknown;
    readonly structuredContent?: {
      readonly x402Version?: unknown;
      readonly accepts?: unknown;
      readonly status?: unknown;
    };
  };
}

/** A JSON-RPC message; null: the text is not one. */
export function readMessage(text: string): McpMessage | null {
  try {
    const value: unknown = JSON.parse(text);
    return value !== null && typeof value === 'object' && !Array.isArray(value) ? value : null;
  } catch {
    return null;
  }
}

/** True if the message is to be answered: notifications and responses are not. */
export const isRequest = ({ id, method }: McpMessage): boolean => id !== undefined && method !== undefined;

/** True if the client no longer waits for the answer to its request `params.requestId`. */
export const isCancellation = ({ method }: McpMessage): boolean => method === 'notifications/cancelled';

/** True if one message answers the other. */
export const isAnswerTo = (answer: McpMessage, { id }: McpMessage): boolean => id !== undefined && answer.id === id;

/** True if the answer is the terms of x402 (version 2) rather than a result. */
export const asksForPayment = ({ result }: McpMessage): boolean =>
  result?.isError === true && result.structuredContent?.x402Version === 2;

/**
 * True if the answer shows the outcome of a payment: it bought something, or the node asks for another. An error without a record does not,
 * nor does a question of the agent: the repetition with its answer shows the same payment.
 */
export const tellsOutcome = (answer: McpMessage): boolean =>
  asksForPayment(answer) ||
  (answer.result !== undefined &&
    answer.result.resultType !== 'input_required' &&
    (!answer.result.isError || answer.result.structuredContent?.status !== undefined));

/** The name of a purchase: the same call has the same one. */
export const purchaseOf = ({ method, params }: McpMessage): string =>
  canonicalJson([method, params?.name, params?.arguments ?? {}]);

/** The message with a signed payment, where MCP clients of x402 put it. */
export const withPayment = (message: McpMessage, payment: unknown): McpMessage => ({
  ...message,
  params: { ...message.params, _meta: { ...message.params?._meta, 'x402/payment': payment } },
});
