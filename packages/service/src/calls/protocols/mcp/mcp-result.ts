import { USAGE_EXTENSION } from '@agent-network/contracts/invocations/usage';
import { isObject, type Json, parseObject } from '../../../lib/json/json-object.ts';
import type { Failure, Outcome } from '../../invocation.ts';
import { claimOfAgent } from '../../usage/usage-claim.ts';
import { type Billed, CallFailedError } from '../adapter.ts';
import { completed, describeError } from '../agent-answer.ts';
import { invalidAnswer } from '../exchange.ts';
import { billOf } from '../pay-agent-bill.ts';
import { needsInput } from './mcp-question.ts';

const PAYMENT_REQUIRED = 402;
/** MCP error codes of a tool that asks its user: to open a page first, or by a capability that the call does not declare. */
const ASKING: ReadonlySet<unknown> = new Set([-32042, -32021]);

/** The end of a tool call from the result of the tool. */
export function readResult(result: Json): Outcome | Billed {
  const content = Array.isArray(result.content) ? result.content.filter(isObject) : [];
  const texts = content.flatMap(({ type, text }) => (type === 'text' && typeof text === 'string' ? [text] : []));
  if (result.isError === true) {
    const bill = billOf(result.structuredContent) ?? billOf(parseObject(texts[0] ?? ''));
    if (bill) return bill;
    throw new CallFailedError('agent_error', `The agent failed${describeError({ message: texts.join(' ') })}.`);
  }
  const usage = claimOfAgent(isObject(result._meta) ? result._meta[USAGE_EXTENSION] : null);
  if (isObject(result.structuredContent)) return completed(result.structuredContent, usage);
  if (!Array.isArray(result.content)) return invalidAnswer('without content');
  return completed(texts.length === content.length ? { text: texts.join('\n') } : { content }, usage);
}

/** The end of a tool call, or the bill, from a JSON-RPC error. */
export function readError(error: Json): Billed | Failure {
  const bill = error.code === PAYMENT_REQUIRED ? billOf(error.data) : null;
  if (bill) return bill;
  if (ASKING.has(error.code)) return needsInput;
  throw new CallFailedError('agent_error', `The agent failed${describeError({ message: error.message })}.`);
}
