import { isObject, type Json, parseObject } from '../../../lib/json/json-object.ts';
import type { Outcome } from '../../invocation.ts';
import { type Billed, CallFailedError } from '../adapter.ts';
import { completed, describeError } from '../agent-answer.ts';
import { invalidAnswer } from '../exchange.ts';
import { billOf } from '../x402-terms.ts';

const PAYMENT_REQUIRED = 402;
/** MCP's code for a tool whose user has to open a page first. */
const URL_ELICITATION_REQUIRED = -32042;

/** The end of a tool call from its JSON-RPC response. */
export function readToolMessage({ result, error }: Json): Outcome | Billed {
  if (isObject(error)) return readError(error);
  if (!isObject(result)) return invalidAnswer('without the result of the tool');
  if (result.resultType === 'input_required') return needsInput();
  const content = Array.isArray(result.content) ? result.content.filter(isObject) : [];
  const texts = content.flatMap(({ type, text }) => (type === 'text' && typeof text === 'string' ? [text] : []));
  if (result.isError === true) {
    const bill = billOf(result.structuredContent) ?? billOf(parseObject(texts[0] ?? ''));
    if (bill) return bill;
    throw new CallFailedError('agent_error', `The agent failed${describeError({ message: texts.join(' ') })}.`);
  }
  if (isObject(result.structuredContent)) return completed(result.structuredContent);
  if (!Array.isArray(result.content)) return invalidAnswer('without content');
  return completed(texts.length === content.length ? { text: texts.join('\n') } : { content });
}

function readError(error: Json): Billed | never {
  const bill = error.code === PAYMENT_REQUIRED ? billOf(error.data) : null;
  if (bill) return bill;
  if (error.code === URL_ELICITATION_REQUIRED) return needsInput();
  throw new CallFailedError('agent_error', `The agent failed${describeError({ message: error.message })}.`);
}

function needsInput(): never {
  throw new CallFailedError('agent_needs_input', 'The agent asked for more input, which a call does not have.');
}
