import type { ChainContext } from '../../payments/chain-outbox/chain-context.ts';
import type { RegistryIndex } from '../read/registry-tokens.ts';

/** Dependencies of the registry writer. */
export type WriterContext = ChainContext & RegistryIndex;
