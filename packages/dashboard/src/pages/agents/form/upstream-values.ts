import type { HttpTemplate } from '@agent-network/contracts/agents/http-template';
import { type AgentProtocol, HIDDEN_VALUE } from '@agent-network/contracts/agents/upstream';
import type { OwnAgent } from '@agent-network/contracts/invocations/figures';
import { isSame } from '../../../forms/is-same.ts';
import type { Problems } from '../../../forms/problems.ts';

/** One header of the calls. A stored value is never shown, and is kept until another one is typed. */
export interface HeaderValues {
  readonly name: string;
  readonly value: string;
  readonly isStored: boolean;
}

/** Upstream settings of the endpoint in the form; those of a template with its body as text. */
export interface UpstreamValues extends Omit<HttpTemplate, 'body'> {
  readonly body: string;
  readonly protocol: AgentProtocol;
  readonly tool: string;
  readonly model: string;
  readonly headers: readonly HeaderValues[];
}

export type OwnUpstream = Pick<OwnAgent, 'protocol' | 'upstream'>;

const firstTemplate: HttpTemplate & { readonly body: string } = {
  method: 'POST',
  path: '',
  body: '{"text": "{{task}}"}',
  contentType: 'application/json',
  result: '',
};

export const noUpstream: UpstreamValues = {
  ...{ protocol: 'http', tool: '', model: '', headers: [] },
  ...firstTemplate,
};
export const noHeader: HeaderValues = { name: '', value: '', isStored: false };

export const upstreamValuesOf = ({ protocol, upstream }: OwnUpstream): UpstreamValues => {
  const { tool, model, headers, method, path = '', body, contentType = 'application/json', result = '' } = upstream;
  return {
    protocol,
    tool: tool ?? '',
    model: model ?? '',
    ...(method === undefined ? firstTemplate : { method, path, body: body ?? '', contentType, result }),
    headers: Object.keys(headers).map((name) => ({ name, value: '', isStored: true })),
  };
};

/** True for a method with a body in its requests. */
export const takesBody = (method: HttpTemplate['method']): boolean => method !== 'GET' && method !== 'DELETE';

/** The template that the form has. */
export const templateOf = ({ method, path, body, contentType, result }: UpstreamValues): HttpTemplate => ({
  ...{ method, path, contentType, result },
  body: takesBody(method) && body.trim() !== '' ? body : null,
});

const written = (headers: readonly HeaderValues[]) => headers.filter(({ name, value }) => name || value);

const headersOf = (headers: readonly HeaderValues[]): Record<string, string> =>
  Object.fromEntries(
    written(headers).map(({ name, value, isStored }) => [name, isStored && !value ? HIDDEN_VALUE : value]),
  );

/** `protocol` and `upstream` of a registration, without fields that the protocol does not have. */
export function registeredUpstream(values: UpstreamValues) {
  const { protocol, tool, model, headers } = values;
  const { body, ...template } = templateOf(values);
  const upstream = {
    ...(protocol === 'http-template' ? { ...template, ...(body === null ? {} : { body }) } : {}),
    ...(protocol === 'mcp' && tool ? { tool } : {}),
    ...(protocol === 'openai' ? { model } : {}),
    ...(written(headers).length > 0 ? { headers: headersOf(headers) } : {}),
  };
  return { ...(protocol === 'http' ? {} : { protocol }), ...(isSame(upstream, {}) ? {} : { upstream }) };
}

/** Changed fields of an upstream, for an update. null clears fields that the protocol does not have; `***` keeps a stored header. */
export function changedUpstream(values: UpstreamValues, own: OwnUpstream) {
  const { protocol, tool, model, headers } = values;
  const template = Object.entries(protocol === 'http-template' ? templateOf(values) : {});
  const wantedTool = protocol === 'mcp' && tool ? tool : null;
  const wantedModel = protocol === 'openai' ? model : null;
  const upstream = {
    ...(wantedTool === own.upstream.tool ? {} : { tool: wantedTool }),
    ...(wantedModel === own.upstream.model ? {} : { model: wantedModel }),
    ...Object.fromEntries(template.filter(([name, value]) => own.upstream[name as keyof HttpTemplate] !== value)),
    ...(isSame(headersOf(headers), own.upstream.headers) ? {} : { headers: headersOf(headers) }),
  };
  return { ...(protocol === own.protocol ? {} : { protocol }), ...(isSame(upstream, {}) ? {} : { upstream }) };
}

/** Headers that are named twice: an object can carry only one of them. */
export function headerProblems({ headers }: UpstreamValues): Problems {
  const names = written(headers).map(({ name }) => name.toLowerCase());
  const twice = written(headers).filter((_, at) => names.indexOf(names[at] ?? '') < at);
  return new Map(twice.map(({ name }) => [`upstream.headers.${name}`, 'is named twice']));
}
