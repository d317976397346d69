import { announceNode } from '../../registry/write/announce-node.ts';
import { moveEntries, type RegistrationContext, registerMissing } from './register-verified.ts';

/** Sees to it that this node and its agents have the entries in the shared registry that they should have. */
export interface EntryKeeper {
  keep(): Promise<void>;
}

export function createEntryKeeper(ctx: RegistrationContext): EntryKeeper {
  // The node's address changes with a start only.
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
