/**
 * A chain's non-fatal answer to raw bytes: accepted; already known; outbid by another transaction under the same nonce that pays as much;
 * or its nonce is already in a block.
 */
export type SendAnswer = 'taken' | 'known' | 'outbid' | 'nonce used';

const answers: readonly (readonly [RegExp, SendAnswer])[] = [
  [/already (known|imported)|known transaction/i, 'known'],
  [/underpriced|could not replace/i, 'outbid'],
  [/nonce (is )?too low|nonce has already been used/i, 'nonce used'],
];

/** Classifies the message of an RPC error; null when it is none of these answers. */
export const sendAnswerOf = (message: string): SendAnswer | null =>
  answers.find(([words]) => words.test(message))?.[1] ?? null;
