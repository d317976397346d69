import type { Hono } from 'hono';
import { readFeedbackFile } from '../../agents/reputation/give-feedback.ts';
import { AppError, notFound } from '../../lib/app-error.ts';
import type { HttpContext } from '../request/http-context.ts';
import { documentAnswer, toDocument } from './document-answer.ts';
import { createFreshDocuments } from './fresh-documents.ts';

/** Cache header: a file never changes, because the registry has its hash. */
const CACHE = { 'cache-control': 'public, max-age=3600' };

/** Serves the files behind this node's feedback in the shared registry, byte for byte: the registry has their hashes. */
export function mountFeedback(app: Hono, ctx: HttpContext): void {
  const fresh = createFreshDocuments();
  app.get('/agents/:id/feedback/:file{.+\\.json}', async (c, next) => {
    const { id, file } = c.req.param();
    const found = await fresh(c.req.path, async () => {
      const text = await readFeedbackFile(ctx, id, file.slice(0, -'.json'.length));
      if (text === null) throw notFound('feedback file');
      return toDocument(text, 'application/json');
    }).catch(orNull);
    return found ? documentAnswer(c, found, CACHE) : next();
  });
}

function orNull(error: unknown): null {
  if (error instanceof AppError && error.code === 'NOT_FOUND') return null;
  throw error;
}
