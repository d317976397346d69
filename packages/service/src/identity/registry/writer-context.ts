import type { ChainContext } from '../../payments/x402/chain-context.ts';
import type { HasRegistrarGas } from '../../payments/x402/gas-watch.ts';
import type { HasRegistry } from './registry-info.ts';

/** What writing to the registries takes. */
export type WriterContext = ChainContext & HasRegistry & HasRegistrarGas;
