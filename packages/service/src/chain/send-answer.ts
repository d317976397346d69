/**
 * What a chain says to raw bytes that it did not refuse for good: it took them, it has them already, it has another under the same
 * nonce that pays as much, or a block has the nonce.
 */
export type SendAnswer = 'taken' | 'known' | 'outbid' | 'nonce used';

const answers: readonly (readonly [RegExp, SendAnswer])[] = [
  [/already (known|imported)|known transaction/i, 'known'],
  [/underpriced|could not replace/i, 'outbid'],
  [/nonce (is )?too low|nonce has already been used/i, 'nonce used'],
];

/** Reads the words of an error; null when they mean something else. */
export const sendAnswerOf = (message: string): SendAnswer | null =>
  answers.find(([words]) => words.test(message))?.[1] ?? null;
