import type { Home } from '../../agents/agent.ts';
import type { NodeIdentity } from '../../chain/chain-info.ts';
import type { HasWallet } from '../../chain/keys/node-keys.ts';
import type { Records } from '../../db/records.ts';
import { createBoundedCache } from '../../lib/bounded-cache.ts';
import { singleFlight } from '../../lib/concurrency/single-flight.ts';
import type { HasGuardedFetch } from '../../lib/net/guarded-fetch.ts';
import type { HasSecrets } from '../../lib/secrets.ts';
import { findHomeKey, writeHomeKey } from './home-store.ts';
import { type KeyAtHome, signInAtHome } from './sign-in-at-home.ts';

/** This node's API keys at other nodes. */
export interface HomeKeys {
  /** The key at a node; signs in when there is none. Throws GuardedFetchError when the node can't be reached. */
  keyFor(home: Home): Promise<KeyAtHome>;
  /** A new key in place of a refused one; another process may have renewed it meanwhile. */
  renew(home: Home, refused: string): Promise<KeyAtHome>;
}

export interface HasHomeKeys {
  readonly homeKeys: HomeKeys;
}

/** Keys are stored sealed in the database, for all processes. Each process runs one sign-in for a node at a time. */
export function createHomeKeys(ctx: Records & HasSecrets & HasGuardedFetch & NodeIdentity & HasWallet): HomeKeys {
  const known = createBoundedCache<string>(10_000);

  async function find(home: Home, refused: string | null): Promise<KeyAtHome> {
    const sealed = await findHomeKey(ctx.db, home.nodeId);
    const stored = sealed && ctx.secrets.openOrNull(sealed);
    if (stored && stored !== refused) {
      known.set(home.nodeId, stored);
      return { key: stored };
    }
    const got = await signInAtHome(ctx, home);
    if ('key' in got) {
      await writeHomeKey(ctx.db, home.nodeId, ctx.secrets.seal(got.key));
      known.set(home.nodeId, got.key);
    }
    return got;
  }

  const findOnce = singleFlight(find, ({ nodeId }) => nodeId);

  async function get(home: Home, refused: string | null): Promise<KeyAtHome> {
    const key = known.get(home.nodeId);
    if (key !== undefined && key !== refused) return { key };
    return findOnce(home, refused);
  }

  return { keyFor: (home) => get(home, null), renew: get };
}
