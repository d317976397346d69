import { createRequire } from 'node:module';

/** How signatures are made and checked: by the compiled library, or by its stand-in, which costs many times the processor time. */
export type SignatureEngine = 'native' | 'javascript';

export interface HasSignatureEngine {
  readonly signatureEngine: SignatureEngine;
}

const require = createRequire(import.meta.url);

/**
 * The package takes its stand-in without a word where it has no build for the platform: it brings none for Linux on arm64, for
 * example, and needs a compiler there when it is installed.
 */
export function readSignatureEngine(): SignatureEngine {
  try {
    return require('secp256k1') === require('secp256k1/bindings') ? 'native' : 'javascript';
  } catch {
    return 'javascript';
  }
}
