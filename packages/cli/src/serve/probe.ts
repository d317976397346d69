import { isObject, type Json } from './backend.ts';
import { below, type Headers } from './endpoint-client.ts';
import { operationsOf, type Proposal, readOperation } from './openapi-operation.ts';
import type { TargetOptions } from './target.ts';

/** The outcome of asking an endpoint. */
type Probed =
  | { readonly kind: 'proposal'; readonly proposal: Proposal }
  /** It describes several operations; each is an address of its own. */
  | { readonly kind: 'several'; readonly urls: readonly string[] }
  | { readonly kind: 'unknown' }
  /** Nothing answered at all. */
  | { readonly kind: 'silent' };

const ASK_MS = 3000;
const MAX_CHARS = 1024 * 1024;

interface Answer {
  readonly status: number;
  readonly text: string;
}

/**
 * Asks an endpoint for its kind: for an agent card, a list of models and an OpenAPI document, and at last for the handshake of MCP. At most
 * ten requests, of which none asks for work.
 */
export async function probe(url: URL, headers: Headers): Promise<Probed> {
  const asked = async (at: URL, init: RequestInit = {}): Promise<Answer | null> => ask(at, { ...init, headers });
  const [card, models, document] = await Promise.all([
    firstOf([below(url, '.well-known/agent-card.json'), atOrigin(url, '.well-known/agent-card.json')], asked, isCard),
    firstOf([below(url, 'models'), below(url, 'v1/models')], asked, isModels),
    firstOf(
      [below(url, 'openapi.json'), atOrigin(url, 'openapi.json'), atOrigin(url, 'v3/api-docs')],
      asked,
      isOpenapi,
    ),
  ]);
  if (card.found) return proposed('This is an A2A agent', card.found.at.href, { protocol: 'a2a' });
  if (models.found) return proposedModel(models.found.at, models.found.value);
  if (document.found) {
    const { at, value } = document.found;
    const operations = operationsOf(value, at, url);
    const [only] = operations;
    if (operations.length > 1) return { kind: 'several', urls: operations.map((each) => each.url).slice(0, 10) };
    if (only) return { kind: 'proposal', proposal: readOperation(value, only) };
  }
  const mcp = await findMcp(url, headers);
  if (mcp.at) return proposed('This is an MCP server', mcp.at.href, { protocol: 'mcp' });
  const isSilent = [card, models, document, mcp].every(({ hasAnswered }) => !hasAnswered);
  return { kind: isSilent ? 'silent' : 'unknown' };
}

const proposed = (found: string, url: string, options: Partial<TargetOptions>): Probed => ({
  kind: 'proposal',
  proposal: { found, url, options },
});

function atOrigin(url: URL, path: string): URL {
  const root = new URL(url);
  root.pathname = '/';
  root.search = '';
  return below(root, path);
}

interface Found {
  readonly found: { readonly at: URL; readonly value: Json } | null;
  readonly hasAnswered: boolean;
}

/** The first of these addresses that answers with such an object. */
async function firstOf(
  urls: readonly URL[],
  asked: (at: URL) => Promise<Answer | null>,
  isIt: (value: Json) => boolean,
): Promise<Found> {
  let hasAnswered = false;
  const seen = new Set<string>();
  for (const at of urls) {
    if (seen.has(at.href)) continue;
    seen.add(at.href);
    const answer = await asked(at);
    hasAnswered ||= answer !== null;
    const value = answer?.status === 200 ? parse(answer.text) : null;
    if (isObject(value) && isIt(value)) return { found: { at, value }, hasAnswered };
  }
  return { found: null, hasAnswered };
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return null;
  }
}

const isCard = ({ name, url, supportedInterfaces }: Json): boolean =>
  typeof name === 'string' && (typeof url === 'string' || Array.isArray(supportedInterfaces));

const idsIn = ({ data }: Json): string[] =>
  (Array.isArray(data) ? data : []).flatMap((each) => (isObject(each) && typeof each.id === 'string' ? [each.id] : []));
const isModels = (value: Json): boolean => idsIn(value).length > 0;

const isOpenapi = ({ openapi, paths }: Json): boolean =>
  typeof openapi === 'string' && openapi.startsWith('3') && isObject(paths);

function proposedModel(at: URL, value: Json): Probed {
  const base = new URL(at);
  base.pathname = base.pathname.slice(0, -'/models'.length);
  const [first = '', ...others] = idsIn(value);
  const named = others.length === 0 ? { protocol: 'openai' as const } : { protocol: 'openai' as const, model: first };
  const found = others.length === 0 ? `the model ${first}` : `the models ${[first, ...others].slice(0, 10).join(', ')}`;
  return proposed(`This is an OpenAI-compatible API with ${found}`, base.href, named);
}

const INITIALIZE = {
  ...{ jsonrpc: '2.0', id: 1, method: 'initialize' },
  params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'agentnet', version: '1' } },
};

/** The address at which an MCP server answers; some say only that they take other requests. */
async function findMcp(url: URL, headers: Headers): Promise<{ at: URL | null; hasAnswered: boolean }> {
  let hasAnswered = false;
  for (const at of url.pathname === '/' ? [url, atOrigin(url, 'mcp')] : [url]) {
    const answer = await ask(at, {
      method: 'POST',
      headers: {
        ...headers,
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
      },
      body: JSON.stringify(INITIALIZE),
    });
    hasAnswered ||= answer !== null;
    const isIt = answer && /"jsonrpc"\s*:\s*"2\.0"/.test(answer.text) && /"(result|error)"\s*:/.test(answer.text);
    if (isIt) return { at, hasAnswered };
  }
  return { at: null, hasAnswered };
}

/** Sends a request once and reads the beginning of its answer; null: there is none. */
async function ask(url: URL, init: RequestInit): Promise<Answer | null> {
  const stop = new AbortController();
  const timer = setTimeout(() => stop.abort(), ASK_MS);
  try {
    const response = await fetch(url, { ...init, redirect: 'manual', signal: stop.signal });
    const decoder = new TextDecoder();
    let text = '';
    try {
      for await (const part of response.body ?? []) {
        text += decoder.decode(part, { stream: true });
        // A stream of events may stay open after the answer.
        if (text.length > MAX_CHARS || /^data:.*\n\r?\n/m.test(text)) break;
      }
    } catch {
      // What came before the timeout counts.
    }
    return { status: response.status, text };
  } catch {
    return null;
  } finally {
    clearTimeout(timer);
    stop.abort();
  }
}
