import { announceNode } from '../../registry/write/announce-node.ts';
import { moveEntries, type RegistrationContext, registerMissing } from './register-verified.ts';

/** Keeps the registry entries of this node and its agents up to date. */
export interface EntryKeeper {
  keep(): Promise<void>;
}

export function createEntryKeeper(ctx: RegistrationContext): EntryKeeper {
  // The node's address changes only at a restart.
  let haveMoved = false;
  return {
    async keep() {
      await announceNode(ctx);
      await registerMissing(ctx);
      if (!haveMoved) await moveEntries(ctx);
      haveMoved = true;
    },
  };
}
