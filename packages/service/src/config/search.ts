import { ConfigError, type Env } from '../lib/read-env.ts';

/** A service that makes vectors of texts, by the API of OpenAI. */
export interface EmbeddingsSettings {
  readonly url: string;
  readonly model: string;
  /** null: none is sent. */
  readonly apiKey: string | null;
}

/** Settings of the search by a text. */
export interface SearchSettings {
  /** `auto`: by meaning where there is a model. */
  readonly by: 'auto' | 'words';
  /** null: the model of the optional packages. */
  readonly embeddings: EmbeddingsSettings | null;
}

export function readSearch(env: Env): SearchSettings {
  const by = env.SEARCH_BY ?? 'auto';
  if (by !== 'auto' && by !== 'words') throw new ConfigError('SEARCH_BY must be auto or words.');
  // Empty as in a file of settings in which they were not filled in.
  const url = env.EMBEDDINGS_URL || null;
  const model = env.EMBEDDINGS_MODEL || 'text-embedding-3-small';
  const apiKey = env.EMBEDDINGS_API_KEY || null;
  if (model.length > 200) throw new ConfigError('EMBEDDINGS_MODEL must be a name of at most 200 characters.');
  if (url === null) return { by, embeddings: null };
  const parsed = URL.parse(url);
  if (!parsed || !/^https?:$/.test(parsed.protocol) || parsed.username !== '' || parsed.password !== '')
    throw new ConfigError('EMBEDDINGS_URL must be an http or https URL without a user and a password.');
  return { by, embeddings: { url: parsed.href, model, apiKey } };
}
