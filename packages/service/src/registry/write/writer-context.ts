import type { ChainContext } from '../../payments/chain-outbox/chain-context.ts';
import type { HasRegistry } from '../read/registry-info.ts';

/** Dependencies of the registry writer. */
export type WriterContext = ChainContext & HasRegistry;
