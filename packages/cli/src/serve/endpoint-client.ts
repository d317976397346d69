import { AgentError } from '@agent-network/sdk/agent';
import { isObject, type Json } from './backend.ts';

const MAX_ANSWER_BYTES = 1024 * 1024;
const MAX_REASON_CHARS = 300;

export type Headers = Readonly<Record<string, string>>;

/**
 * The failure of a call in a form that its caller may read. Status 422, so that the node does not repeat work that the endpoint may have
 * done.
 */
export const failed = (message: string): AgentError => new AgentError('agent_error', message);

/** An endpoint over HTTP. Its headers go to its own URLs only: a redirect is an error. */
export class Endpoint {
  readonly #headers: Headers;

  constructor(headers: Headers) {
    this.#headers = headers;
  }

  /** Sends a request once. Throws `AgentError` for any status but 200. */
  async send(url: URL, init: { body?: Json; headers?: Headers; signal: AbortSignal }): Promise<Response> {
    const { body, signal } = init;
    const request: RequestInit = {
      method: body ? 'POST' : 'GET',
      headers: { ...this.#headers, ...init.headers, ...(body ? { 'content-type': 'application/json' } : {}) },
      ...(body ? { body: JSON.stringify(body) } : {}),
    };
    const response = await this.fetch(url, { ...request, signal }).catch((): never => {
      signal.throwIfAborted();
      throw failed('The endpoint does not answer.');
    });
    if (response.status === 200) return response;
    const { error } = await readJson(response, signal).catch((): Json => ({}));
    throw failed(`The endpoint answered ${response.status}${this.reasonOf(error)}.`);
  }

  /** Fetches without redirects. The body ends in an error beyond the limit. */
  async fetch(url: string | URL, init: RequestInit = {}): Promise<Response> {
    const response = await fetch(url, { ...init, redirect: 'error' });
    if (!response.body) return response;
    let bytes = 0;
    const limit = new TransformStream<Uint8Array, Uint8Array>({
      transform(chunk, controller) {
        bytes += chunk.byteLength;
        if (bytes > MAX_ANSWER_BYTES)
          controller.error(new AgentError('result_too_large', 'The endpoint sent more than 1 MiB.'));
        else controller.enqueue(chunk);
      },
    });
    const { status, headers } = response;
    return new Response(response.body.pipeThrough(limit), { status, headers });
  }

  /** Text of an error without the credentials, since some servers repeat a refused request. */
  reasonOf(error: unknown): string {
    const said = isObject(error) ? error.message : error;
    if (typeof said !== 'string' || said === '') return '';
    const secrets = Object.values(this.#headers).flatMap((value) => [value, value.replace(/^\S+ /, '')]);
    return `: ${secrets.reduce((text, secret) => text.replaceAll(secret, '***'), said).slice(0, MAX_REASON_CHARS)}`;
  }
}

/** The text of an answer. */
export const readText = (response: Response, signal: AbortSignal): Promise<string> =>
  response.text().catch((error: unknown): never => {
    signal.throwIfAborted();
    throw error instanceof AgentError ? error : failed('The endpoint broke off its answer.');
  });

/** The JSON object of an answer. */
export async function readJson(response: Response, signal: AbortSignal): Promise<Json> {
  const text = await readText(response, signal);
  try {
    const value: unknown = JSON.parse(text);
    if (isObject(value)) return value;
  } catch {
    // Falls to the error below.
  }
  throw failed('The endpoint did not answer with a JSON object.');
}

/** The URL of a path below another, with the query of that one. */
export function below(base: URL, path: string): URL {
  const url = new URL(base);
  url.pathname = `${url.pathname.replace(/\/+$/, '')}/${path}`;
  return url;
}
