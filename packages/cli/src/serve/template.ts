import {
  type FilledRequest,
  fillTemplate,
  type HttpTemplate,
  readTemplateResult,
  TEXT_RESULT,
  TemplateInputError,
} from '@agent-network/contracts/agents/http-template';
import { type AgentCall, AgentError } from '@agent-network/sdk/agent';
import type { Backend } from './backend.ts';
import { Endpoint, failed, type Headers, readText } from './endpoint-client.ts';

/** A plain HTTP service: one request for each call, filled from the template. */
export function templateBackend(origin: URL, headers: Headers, template: HttpTemplate): Backend {
  const endpoint = new Endpoint(headers);
  const isText = template.result === TEXT_RESULT;
  return {
    async run(call) {
      const { requestId, signal } = call;
      const { method, url, body } = filledRequest(origin, template, call);
      const own = {
        accept: isText ? 'text/plain, */*;q=0.5' : 'application/json',
        ...{ 'idempotency-key': requestId, 'x-request-id': requestId },
        ...(body === null ? {} : { 'content-type': template.contentType }),
      };
      const response = await endpoint
        .fetch(url, { method, headers: { ...headers, ...own }, ...(body === null ? {} : { body }), signal })
        .catch((): never => {
          signal.throwIfAborted();
          throw failed('The service does not answer.');
        });
      const text = await readText(response, signal);
      if (!response.ok) throw failed(`The service answered ${response.status}${endpoint.reasonOf(errorIn(text))}.`);
      const read = readTemplateResult(template.result, text);
      if ('problem' in read) throw failed(`The service answered ${read.problem}.`);
      return read.value;
    },
    close: async () => undefined,
  };
}

function filledRequest(origin: URL, template: HttpTemplate, call: AgentCall): FilledRequest {
  try {
    return fillTemplate(origin.href, template, call);
  } catch (error) {
    if (error instanceof TemplateInputError) throw new AgentError('input_invalid', error.message);
    throw error;
  }
}

/** The error that an answer names: in `error`, `message` or `detail`. */
function errorIn(text: string): unknown {
  try {
    const { error, message, detail } = JSON.parse(text) as Record<string, unknown>;
    return error ?? message ?? detail;
  } catch {
    return undefined;
  }
}
