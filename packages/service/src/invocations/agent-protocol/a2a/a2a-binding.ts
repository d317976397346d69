import type { A2aAgent } from '../../../agents/upstream/a2a-card-client.ts';
import { urlBelow } from '../../../agents/upstream/upstream.ts';
import type { Json } from '../../../lib/json/json-object.ts';
import { type A2aMessage, dialects } from './a2a-wire.ts';

/** A request to an agent, in the binding of its interface. */
export interface BoundRequest {
  readonly url: string;
  readonly method: 'POST' | 'GET';
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Json | undefined;
}

const TYPES = 'application/a2a+json, application/json';

const headersOf = ({ binding, version }: A2aAgent) => ({
  ...(binding === 'HTTP+JSON' ? { accept: TYPES } : {}),
  ...dialects[version].headers,
});

/** Operations of tasks and messages: each names the tenant, in its path or among its parameters. */
export const bound = {
  message: (agent: A2aAgent, id: string, message: A2aMessage, isStreamed: boolean): BoundRequest => {
    const { methods, toParams } = dialects[agent.version];
    const path = isStreamed ? '/message:stream' : '/message:send';
    return request(agent, { id, rpc: isStreamed ? methods.stream : methods.send, path, params: toParams(message) });
  },
  get: (agent: A2aAgent, taskId: string): BoundRequest => {
    const { methods } = dialects[agent.version];
    const path = `/tasks/${encodeURIComponent(taskId)}`;
    return request(agent, { rpc: methods.get, path, params: { id: taskId }, isRead: true });
  },
  cancel: (agent: A2aAgent, taskId: string): BoundRequest => {
    const { methods } = dialects[agent.version];
    const path = `/tasks/${encodeURIComponent(taskId)}:cancel`;
    return request(agent, { rpc: methods.cancel, path, params: { id: taskId } });
  },
};

interface Operation {
  readonly id?: string;
  /** Name of the method of JSON-RPC. */
  readonly rpc: string;
  readonly path: string;
  readonly params: Json;
  /** True when HTTP+JSON has a GET for it. */
  readonly isRead?: boolean;
}

function request(agent: A2aAgent, { id, rpc, path, params, isRead = false }: Operation): BoundRequest {
  const { url, binding, tenant } = agent;
  const headers = headersOf(agent);
  if (binding === 'JSONRPC') {
    const named = tenant === null ? params : { ...params, tenant };
    return { url, method: 'POST', headers, body: { jsonrpc: '2.0', id: id ?? 1, method: rpc, params: named } };
  }
  const at = urlBelow(url, (tenant === null ? '' : `/${encodeURIComponent(tenant)}`) + path);
  return { url: at, method: isRead ? 'GET' : 'POST', headers, body: isRead ? undefined : params };
}

/** What an answer or an event holds: HTTP+JSON has no envelope. */
export const resultIn = ({ binding }: Pick<A2aAgent, 'binding'>, value: Json | undefined): unknown =>
  binding === 'JSONRPC' ? value?.result : value;
