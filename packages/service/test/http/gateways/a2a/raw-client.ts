import { randomUUID } from 'node:crypto';
import { expect } from 'vitest';
import type { Harness } from '../../../support/harness.ts';
import type { TestAgent } from '../../../support/test-agent.ts';

// biome-ignore lint/suspicious/noExplicitAny: answers of every shape
export type Any = any;

/** Headers of a message of version 1.0. */
export const v1 = { 'a2a-version': '1.0', 'content-type': 'application/json' };
/** Metadata that tells the step of a payment. */
export const STATUS = 'x402.payment.status';

export const message = (more: object = {}) => ({
  messageId: randomUUID(),
  role: 'ROLE_USER',
  parts: [{ text: 'hello' }],
  ...more,
});
export const envelope = (method: string, params: unknown, id: unknown = 1) => ({ jsonrpc: '2.0', id, method, params });
export const send = (more: object = {}) => envelope('SendMessage', { message: message(more) });

/** A message that pays for a task. */
export const paying = (taskId: string, payload: unknown) =>
  send({ taskId, metadata: { [STATUS]: 'payment-submitted', 'x402.payment.payload': payload } });

export const termsOf = (task: Any) => task.status.message.metadata['x402.payment.required'];

export interface Sending {
  readonly key?: string | undefined;
  readonly headers?: Record<string, string>;
  readonly agent?: TestAgent;
}

/** A body as JSON; that of a stream that did not begin is its only event. */
export const errorIn = (body: Any): Any =>
  typeof body === 'string' && /^data: .*\n\n$/.test(body) ? JSON.parse(body.slice(6)) : body;

/** Sends JSON-RPC without a client, which would check it first. `given` is called when a message is sent. */
export function rawClient(given: () => { readonly h: Harness; readonly agent: TestAgent }) {
  const rpc = async (body: unknown, { key, headers = v1, agent = given().agent }: Sending = {}): Promise<Any> => {
    const text = typeof body === 'string' ? { text: body } : { body };
    const answer = await given().h.request('POST', `/a2a/${agent.id}`, { key, headers, ...text });
    expect(answer.status).not.toBe(500);
    return { ...errorIn(answer.body), status: answer.status };
  };
  /** A task that waits for its payment. */
  const waiting = async (sending: Sending = {}): Promise<Any> => {
    const { result } = await rpc(send(), sending);
    expect(result.task.status.state).toBe('TASK_STATE_INPUT_REQUIRED');
    return result.task;
  };
  return { rpc, waiting };
}
