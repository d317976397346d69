import type { AgentProtocol } from '@agent-network/contracts/agents/upstream';
import { invariant } from '../../lib/invariant.ts';
import { isObject } from '../../lib/json/json-object.ts';
import { GuardedFetchError, type Outbound } from '../../lib/net/guarded-fetch.ts';
import { readA2aAgent } from './a2a-card-client.ts';
import { requireTool } from './mcp-client.ts';
import { requireAvailable } from './mip-client.ts';
import { headersTo, type Upstream, urlBelow } from './upstream.ts';
import {
  answerDetail,
  CHECK_LIMITS,
  UpstreamFault as Fault,
  faultOf,
  getFrom,
  readObject,
  UpstreamFault,
} from './upstream-client.ts';

export interface UpstreamCheck {
  /** null: the endpoint can be called. */
  readonly fault: UpstreamFault | null;
  /** Digest of the input that the endpoint accepts; null: it does not declare any. */
  readonly digest: string | null;
}

type Check = (ctx: Outbound, upstream: Upstream) => Promise<string | null>;

/** Any HTTP answer below 500 means alive, and so does 501: the server of an agent that takes only POST. Others: see `liveFault`. */
const answersAnything: Check = async (ctx, upstream) => {
  const answer = await getFrom(ctx, upstream, upstream.endpoint);
  const { status } = answer;
  if (status >= 500 && status !== 501)
    throw new Fault(`The endpoint answered with status ${status}.`, {
      isCertain: false,
      detail: answerDetail(upstream, answer),
    });
  return null;
};

/**
 * A service that is called by a template is asked by HEAD: its work is not done, and not paid for, by a check. 500 and 501 are answers too:
 * to a request without its parameters. A redirect counts only where calls are GET as well.
 */
const answersHead: Check = async (ctx, upstream) => {
  const { endpoint, template } = upstream;
  invariant(template !== null, 'an agent of this protocol has a template');
  const [path = ''] = template.path.split('?');
  const url = path === '' || path.includes('{{') ? endpoint : urlBelow(endpoint, path);
  const answer = await ctx.guardedFetch
    .request({ url, method: 'HEAD', headers: headersTo(upstream, url), ...CHECK_LIMITS, takesEncoded: true })
    .catch((error: unknown) => {
      if (error instanceof GuardedFetchError && error.kind === 'redirect' && template.method !== 'GET') return null;
      throw error;
    });
  if (answer?.status === 401)
    throw new Fault('The endpoint is refused with status 401: upstream.headers may lack valid credentials.', {
      detail: answerDetail(upstream, answer, 'credentials'),
    });
  if (answer && answer.status > 501)
    throw new Fault(`The endpoint answered with status ${answer.status}.`, {
      isCertain: false,
      detail: answerDetail(upstream, answer),
    });
  return null;
};

/** Checks, by protocol, that an endpoint can be called. Each returns a digest of the input that it accepts. */
const checks: Record<AgentProtocol, Check> = {
  http: answersAnything,
  'http-template': answersHead,
  openai: async (ctx, upstream) => {
    await requireModel(ctx, upstream);
    return null;
  },
  mcp: requireTool,
  a2a: async (ctx, upstream) => {
    await readA2aAgent(ctx, upstream);
    return null;
  },
  'mip-003': requireAvailable,
};

/** Checks that an endpoint can be called in its protocol, without calling it. */
export async function checkUpstream(ctx: Outbound, upstream: Upstream): Promise<UpstreamCheck> {
  try {
    return { fault: null, digest: await checks[upstream.protocol](ctx, upstream) };
  } catch (error) {
    return { fault: faultOf(error), digest: null };
  }
}

/** Throws UpstreamFault unless `GET /models` lists the agent's model. */
async function requireModel(ctx: Outbound, upstream: Upstream): Promise<void> {
  const { data } = await readObject(ctx, upstream, urlBelow(upstream.endpoint, '/models'), 'GET /models');
  if (!Array.isArray(data)) throw new UpstreamFault('GET /models is not answered with a list of models.');
  if (!data.some((model) => isObject(model) && model.id === upstream.model))
    throw new UpstreamFault(`GET /models does not list the model "${upstream.model}".${listedModels(data)}`);
}

const SHOWN_MODELS = 8;
const MAX_MODEL_CHARS = 100;

/** The first models of a list, as a sentence; nothing for a list without names. */
function listedModels(data: readonly unknown[]): string {
  const names = data
    .slice(0, SHOWN_MODELS)
    .flatMap((model) => (isObject(model) && typeof model.id === 'string' ? [model.id.slice(0, MAX_MODEL_CHARS)] : []));
  if (names.length === 0) return '';
  return ` It lists ${names.join(', ')}${data.length > SHOWN_MODELS ? ` and ${data.length - SHOWN_MODELS} more` : ''}.`;
}
