import type { Context, Hono } from 'hono';
import { readAgent } from '../../../agents/alternatives/find-agent.ts';
import { tagOf } from '../../answer/entity-tag.ts';
import { answerDocument } from '../../documents/answer-document.ts';
import { type Document, toDocument } from '../../documents/document-answer.ts';
import { createFreshDocuments } from '../../documents/fresh-documents.ts';
import type { HttpContext } from '../../request/http-context.ts';
import { type CardSigner, createCardSigner, openCardKey } from './card-signer.ts';
import { agentCard, CARD_PATH, type CardParts, JWKS_PATH, nodeCard, OLD_CARD_PATH } from './cards.ts';

/** Where clients look for a card: those of 0.2 at another path, and some behind a slash of their own. */
const cardPaths = [CARD_PATH, `/${CARD_PATH}`, OLD_CARD_PATH, `/${OLD_CARD_PATH}`];

/** Agents change at any time: copies are checked after this long. */
const CACHE = 'public, max-age=15';
/** The key does not change; a restored database may have another. */
const KEY_CACHE = 'public, max-age=300';

/** Serves the cards of agents, that of the node's own agent, and the key that signs them. */
export function mountCards(app: Hono, ctx: HttpContext): void {
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
 * A card with two signatures: over its 1.0 fields, which is what verifiers that know the schema see, and over all of its fields as sent. The
 * entity tag is of what is signed, as signatures differ each time.
 */
async function cardDocument(baseUrl: string, signer: CardSigner, { card, before }: CardParts): Promise<Document> {
  const whole = { ...card, ...before };
  const jku = baseUrl + JWKS_PATH;
  const signatures = [await signer.sign(card, jku), await signer.sign(whole, jku)];
  const document = toDocument(JSON.stringify({ ...whole, signatures }), 'application/json');
  return { ...document, etag: `W/"${tagOf(JSON.stringify(whole))}"` };
}
