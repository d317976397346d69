import { z } from 'zod';
import type { EmbeddingsSettings } from '../../config/search.ts';
import { createGuardedFetch } from '../../lib/net/guarded-fetch.ts';
import { ModelBusyError, type TextModel } from './text-model.ts';

const MAX_DIMENSIONS = 4096;
/** Texts of agents in a request, at most; a search has a request of its own. */
const MAX_TEXTS = 24;
const MAX_CHARS = 4000;
const AGENTS_TIMEOUT_MS = 30_000;
/** A number takes up to 25 characters. */
const BYTES_OF_VECTOR = 25 * MAX_DIMENSIONS;
const MAX_SEARCHES = 64;
const CONNECTIONS = 16;

const Answer = z.object({
  data: z.array(z.object({ index: z.int().min(0), embedding: z.array(z.number()).min(8).max(MAX_DIMENSIONS) })),
});

/** A model that an operator names by its URL. Answers are taken only if they have one vector for each text, all of one length. */
export function createRemoteModel({ url, model, apiKey }: EmbeddingsSettings): TextModel {
  const { request } = createGuardedFetch({ allowPrivate: true, userAgent: 'agent-network', connections: CONNECTIONS });
  let searches = 0;

  async function read(input: readonly string[], timeoutMs: number): Promise<Float32Array[]> {
    const { status, body } = await request({
      method: 'POST',
      url,
      headers: {
        'content-type': 'application/json',
        accept: 'application/json',
        ...(apiKey === null ? {} : { authorization: `Bearer ${apiKey}` }),
      },
      body: JSON.stringify({ model, input: input.map((text) => text.slice(0, MAX_CHARS).toWellFormed()) }),
      timeoutMs,
      maxBytes: 10_000 + input.length * BYTES_OF_VECTOR,
    });
    if (status !== 200) throw new Error(`EMBEDDINGS_URL answered ${status}`);
    return vectorsOf(body, input.length);
  }

  return {
    id: `url/${model}`,
    atOnce: 4,
    isQuick: () => false,
    async ofSearch(text, waitMs) {
      if (searches >= MAX_SEARCHES) throw new ModelBusyError('too many searches wait for EMBEDDINGS_URL');
      searches++;
      const [vector] = await read([text], waitMs).finally(() => searches--);
      return vector ?? null;
    },
    async ofAgents(texts) {
      const vectors: Float32Array[] = [];
      for (let from = 0; from < texts.length; from += MAX_TEXTS)
        vectors.push(...(await read(texts.slice(from, from + MAX_TEXTS), AGENTS_TIMEOUT_MS)));
      return vectors;
    },
  };
}

/** The vectors of an answer in the order of the texts. Throws for an answer that is not what was asked for. */
function vectorsOf(body: Buffer, count: number): Float32Array[] {
  const { data } = Answer.parse(JSON.parse(body.toString()));
  const byIndex = new Map(data.map(({ index, embedding }) => [index, Float32Array.from(embedding)]));
  const vectors = Array.from({ length: count }, (_, index) => byIndex.get(index)).filter((each) => each !== undefined);
  const isWhole = (vector: Float32Array) =>
    vector.length === vectors[0]?.length && vector.every(Number.isFinite) && vector.some((value) => value !== 0);
  if (data.length !== count || vectors.length !== count || !vectors.every(isWhole))
    throw new Error('EMBEDDINGS_URL did not answer with one vector for each text, all of one length');
  return vectors;
}
