import { createRequire } from 'node:module';

/** Implementation of secp256k1 in use: the compiled library, or its JavaScript fallback, which takes many times the processor time. */
export type SignatureEngine = 'native' | 'javascript';

const require = createRequire(import.meta.url);

/**
 * Detects the engine. The package falls back silently where it has no build for the platform: it ships none for Linux on arm64, for
 * example, and needs a compiler at install time there.
 */
export function readSignatureEngine(): SignatureEngine {
  try {
    return require('secp256k1') === require('secp256k1/bindings') ? 'native' : 'javascript';
  } catch {
    return 'javascript';
  }
}
