import type { Context, Hono } from 'hono';
import { readAgent } from '../../../agents/search/find-agent.ts';
import type { AnswerRoom } from '../../answer/answer-room.ts';
import { tagOf } from '../../answer/common-headers.ts';
import { streamBody } from '../../answer/sse.ts';
import { linkOf } from '../../api/mount.ts';
import { answerDocument, type Document, toDocument } from '../../documents/document-answer.ts';
import { createFreshDocuments } from '../../documents/fresh-documents.ts';
import type { HttpContext } from '../../request/http-context.ts';
import { recordRequest } from '../../request/record-request.ts';
import { gatewayJson, gatewayStream } from '../common/gateway-error.ts';
import { newGatewayHeaders, openGatewayRequest } from '../common/gateway-request.ts';
import type { A2aPath, Bound } from './bound-request.ts';
import { type CardSigner, createCardSigner, openCardKey } from './card-signer.ts';
import { agentCard, CARD_PATH, type CardParts, JWKS_PATH, nodeCard, OLD_CARD_PATH } from './cards.ts';
import { shownError } from './errors.ts';
import { agentOperations, nodeOperations } from './operations.ts';
import { X402_EXTENSIONS } from './payments.ts';
import { answerRest } from './rest.ts';
import { answerRpc } from './rpc.ts';
import { INVOKE_EXTENSION } from './tasks.ts';

/** Mounts the A2A gateway: cards, and for each agent JSON-RPC on its address with HTTP+JSON below; `/a2a` is the node's own agent. */
export function mountA2a(app: Hono, ctx: HttpContext, room: AnswerRoom): void {
  mountCards(app, ctx);
  app.all('/a2a', (c) => answer(ctx, room, c));
  app.all('/a2a/*', (c) => answer(ctx, room, c));
}

/** First segments below the node's own agent: all others are ids of agents. */
const ownPaths: ReadonlySet<string> = new Set(['message:send', 'message:stream', 'tasks', 'extendedAgentCard']);

/** The agent of a path, and the rest of the path. */
function pathOf(c: Context): A2aPath {
  const segments = c.req.path.split('/').slice(2).map(decoded);
  const [first = ''] = segments;
  const isOwn = first === '' || ownPaths.has(first);
  const rest = (isOwn ? segments : segments.slice(1)).filter(
    (segment, at, all) => segment !== '' || at < all.length - 1,
  );
  return { agentId: isOwn ? null : first, rest };
}

function decoded(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}

const known: readonly string[] = [...X402_EXTENSIONS, INVOKE_EXTENSION];

/** Headers in which clients name extensions, and look for those that are activated: of 1.0, and of 0.3. */
const extensionHeaders = ['a2a-extensions', 'x-a2a-extensions'] as const;

/** Extensions that the client activates in a header and this gateway has. */
const extensionsIn = (c: Context, header: (typeof extensionHeaders)[number]): string[] =>
  (c.req.header(header)?.split(',') ?? []).map((uri) => uri.trim()).filter((uri) => known.includes(uri));

async function answer(ctx: HttpContext, room: AnswerRoom, c: Context): Promise<Response> {
  const startMs = performance.now();
  const headers = newGatewayHeaders(c);
  const target = pathOf(c);
  const isRpc = target.rest.length === 0;
  const response = await (isRpc ? answerRpc : answerRest)({
    ctx,
    c,
    target,
    operations: target.agentId === null ? nodeOperations : agentOperations,
    open: async () => {
      const opened = await openGatewayRequest(ctx, { gateway: 'a2a', room }, c, headers);
      const asked = extensionHeaders.map((header) => [header, extensionsIn(c, header)] as const);
      for (const [header, uris] of asked) if (uris.length > 0) headers[header] = uris.join(', ');
      const extensions = asked.flatMap(([, uris]) => uris);
      return { opened, agentId: target.agentId ?? '', extensions, answerToken: c.req.header('x-answer-token') };
    },
    refuse: (error) => shownError(ctx, 'a2a', headers['x-request-id'] ?? '', error),
    send: (bound, more = {}) => sendAnswer(ctx, c, bound, { ...headers, ...more }),
  });
  const route = target.agentId === null ? 'a2aNode' : isRpc ? 'a2aRpc' : 'a2aRest';
  recordRequest(ctx, c, {
    gateway: 'a2a',
    route,
    requestId: headers['x-request-id'] ?? '',
    status: response.status,
    startMs,
  });
  return response;
}

const encoder = new TextEncoder();

function sendAnswer(ctx: HttpContext, c: Context, bound: Bound, headers: Readonly<Record<string, string>>): Response {
  if (!('stream' in bound)) {
    const { status, type, body } = bound;
    const json = body === undefined ? '' : JSON.stringify(body);
    return gatewayJson(ctx, c, { status, headers: { 'content-type': type, ...headers }, json });
  }
  const { stream } = bound;
  const { requestId } = stream;
  const source = {
    open: (signal: AbortSignal) => {
      const detach = () => void (requestId !== null && ctx.runner.detach(requestId));
      if (signal.aborted) detach();
      else signal.addEventListener('abort', detach, { once: true });
      return stream.open(signal);
    },
    encode: (event: object) => encoder.encode(`data: ${JSON.stringify(event)}\n\n`),
    opening: '',
  };
  const requestName = headers['x-request-id'] ?? '';
  return gatewayStream(
    streamBody(source, {
      ...linkOf(ctx, 'a2a', requestName, c),
      sent: (bytes) => stream.sent?.(bytes),
    }),
    headers,
  );
}

/** Paths at which clients look for a card: version 0.2 has another, and some clients add a second slash. */
const cardPaths = [CARD_PATH, `/${CARD_PATH}`, OLD_CARD_PATH, `/${OLD_CARD_PATH}`];

/** Agents change at any time: copies are checked after this long. */
const CACHE = 'public, max-age=15';
/** The key does not change; a restored database may have another. */
const KEY_CACHE = 'public, max-age=300';

/** Serves the cards of agents, that of the node's own agent, and the key that signs them. */
function mountCards(app: Hono, ctx: HttpContext): void {
  const fresh = createFreshDocuments();
  const signer = createCardSigner(() => openCardKey(ctx));
  const serve = (c: Context, read: () => Promise<CardParts>) =>
    answerDocument(c, () => fresh(c.req.path, async () => cardDocument(ctx.baseUrl, signer, await read())), CACHE);
  app.get(CARD_PATH, (c) => serve(c, async () => nodeCard(ctx)));
  app.get(`/a2a${CARD_PATH}`, (c) => serve(c, async () => nodeCard(ctx)));
  for (const path of cardPaths)
    app.get(`/a2a/:id${path}`, (c) => serve(c, async () => agentCard(ctx, await readAgent(ctx, c.req.param('id')))));
  app.get(JWKS_PATH, (c) =>
    answerDocument(
      c,
      () => fresh(JWKS_PATH, async () => toDocument(JSON.stringify(await signer.jwks()), 'application/json')),
      KEY_CACHE,
    ),
  );
}

/**
 * A card with two signatures: over its 1.0 fields, for verifiers that know only the schema, and over all of its fields as sent. The entity
 * tag covers the signed content, as signatures differ each time.
 */
async function cardDocument(baseUrl: string, signer: CardSigner, { card, before }: CardParts): Promise<Document> {
  const whole = { ...card, ...before };
  const jku = baseUrl + JWKS_PATH;
  const signatures = [await signer.sign(card, jku), await signer.sign(whole, jku)];
  const document = toDocument(JSON.stringify({ ...whole, signatures }), 'application/json');
  return { ...document, etag: `W/"${tagOf(JSON.stringify(whole))}"` };
}
