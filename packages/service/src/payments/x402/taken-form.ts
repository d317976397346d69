import { type Hex, isErc6492Signature, parseErc6492Signature } from 'viem';
import { signerOf, strictForm } from '../../chain/signatures/authorization.ts';

/** A wallet's signature as the token takes it. */
interface TakenForm {
  readonly signature: string;
  /** True if it came wrapped for a wallet that may not be deployed yet (ERC-6492). */
  readonly isWrapped: boolean;
}

/**
 * Brings a signature of a digest into the form that the token takes. What a key signed is rewritten only where that yields this wallet: the
 * same bytes mean something else to contracts, as v of 0 and 1 do to a Safe. A wrapper is taken off: the wallet judges what is in it.
 */
export function takenForm(wallet: string, digest: Hex, shown: string): TakenForm {
  const { signature, isWrapped } = unwrapped(shown);
  const strict = strictForm(signature);
  const isOfKey = strict !== signature && signerOf(digest, strict) === wallet;
  return { signature: isOfKey ? strict : signature, isWrapped };
}

function unwrapped(shown: string): TakenForm {
  if (!isErc6492Signature(shown as Hex)) return { signature: shown, isWrapped: false };
  try {
    return { signature: parseErc6492Signature(shown as Hex).signature.toLowerCase(), isWrapped: true };
  } catch {
    return { signature: shown, isWrapped: false };
  }
}
