const REFUSED = 4001;
const BUSY = -32_002;

/** Translates a wallet's error for the user (EIP-1193 and EIP-1474 codes). */
export function walletError(error: unknown): Error {
  const { code, message } = (error ?? {}) as { code?: unknown; message?: unknown };
  if (code === REFUSED) return new Error('The request was declined in the wallet. Nothing was signed.');
  if (code === BUSY) return new Error('The wallet is waiting for your answer in its own window.');
  return new Error(typeof message === 'string' ? `The wallet failed: ${message}` : 'The wallet failed.');
}
