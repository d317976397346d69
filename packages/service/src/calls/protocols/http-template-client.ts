import { isUtf8 } from 'node:buffer';
import {
  type FilledRequest,
  fillTemplate,
  type HttpTemplate,
  readTemplateResult,
  TEXT_RESULT,
  TemplateInputError,
} from '@agent-network/contracts/agents/http-template';
import { invariant } from '../../lib/invariant.ts';
import { parseObject } from '../../lib/json/json-object.ts';
import type { GuardedResponse } from '../../lib/net/guarded-fetch.ts';
import type { Outcome } from '../invocation.ts';
import { claimOfUpstream } from '../usage/usage-claim.ts';
import { type Adapter, type AgentCall, CallFailedError } from './adapter.ts';
import { completed } from './agent-answer.ts';
import { invalidAnswer, refused, send } from './exchange.ts';

/** One request to a service that knows nothing of agents, filled from the template that its owner registered. */
export const httpTemplateAdapter: Adapter = {
  async prepare(ctx, call) {
    const { template } = call.target;
    invariant(template !== null, 'an agent of this protocol has a template');
    const { method, url, body } = filledRequest(template, call);
    const headers = {
      accept: template.result === TEXT_RESULT ? 'text/plain, */*;q=0.5' : 'application/json',
      ...(body === null ? {} : { 'content-type': template.contentType }),
    };
    return async (proof) => {
      const isText = template.result === TEXT_RESULT;
      const reply = await send(ctx, call, { url, method, body, headers, proof, isText });
      return reply.kind === 'billed' ? reply : readAnswer(template, reply);
    };
  },
};

function filledRequest(template: HttpTemplate, { target, invocation }: AgentCall): FilledRequest {
  try {
    return fillTemplate(target.endpoint, template, invocation);
  } catch (error) {
    if (error instanceof TemplateInputError) throw new CallFailedError('input_invalid', error.message);
    throw error;
  }
}

function readAnswer({ result }: HttpTemplate, { status, headers, body }: GuardedResponse): Outcome {
  const text = body.toString('utf8');
  if (status < 200 || status > 299) {
    const isPlain = String(headers['content-type'] ?? '').startsWith('text/plain');
    return refused(status, parseObject(text) ?? (isPlain ? text.trim() : undefined));
  }
  if (!isUtf8(body)) return invalidAnswer('with text that is not UTF-8');
  const read = readTemplateResult(result, text);
  return 'problem' in read
    ? invalidAnswer(read.problem)
    : completed(read.value, claimOfUpstream(parseObject(text) ?? {}));
}
