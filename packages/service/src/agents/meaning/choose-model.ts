import type { SearchSettings } from '../../config/search.ts';
import type { Log } from '../../lib/telemetry/log.ts';
import { createLocalModel, hasLocalModel } from './local-model.ts';
import { createRemoteModel } from './remote-model.ts';
import type { TextModel } from './text-model.ts';

/** The model that searches are made by; null: none, they are by words. */
export function chooseModel({ by, embeddings }: SearchSettings, log: Log): TextModel | null {
  if (by === 'words') return null;
  if (embeddings) return createRemoteModel(embeddings);
  if (hasLocalModel()) return createLocalModel();
  log.info('searches are by words: the optional packages for searching by meaning are not installed');
  return null;
}
