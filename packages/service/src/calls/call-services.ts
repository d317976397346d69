import type { Home } from '../agents/agent.ts';
import type { SlotLimits } from '../config/limits.ts';
import type { DueAnswers, Finisher } from './finish/end-invocations.ts';
import type { Runner } from './run/runner.ts';
import type { StorageMeter, StoragePace } from './storage.ts';
import type { ChangeHub } from './stream/change-hub.ts';
import type { ChunkWriter } from './stream/record-chunks.ts';
import type { StreamPoller } from './stream/stream-poller.ts';
/** An API key, or the status of the refusal. */
export type KeyAtHome = { readonly key: string } | { readonly refusal: number };

/** This node's API keys at other nodes. */
export interface HomeKeys {
  /** The key at a node; signs in when there is none. Throws GuardedFetchError when the node can't be reached. */
  keyFor(home: Home): Promise<KeyAtHome>;
  /** A new key to replace a refused one; another process may have renewed it already. */
  renew(home: Home, refused: string): Promise<KeyAtHome>;
}

/** Services of calls: running, ending, streaming, storage. */
export interface CallServices {
  readonly runner: Runner;
  readonly slotLimits: SlotLimits;
  readonly finisher: Finisher;
  readonly dueAnswers: DueAnswers;
  readonly changeHub: ChangeHub;
  readonly streamPoller: StreamPoller;
  readonly chunkWriter: ChunkWriter;
  readonly storageMeter: StorageMeter;
  readonly storagePace: StoragePace;
  readonly homeKeys: HomeKeys;
}
