import { AgentError } from '@agent-network/sdk/agent';
import { wordsOf } from './segment-text.ts';

const maxCharacters = 200_000;

export interface TextRequest {
  readonly text: string;
  readonly wanted: { readonly keywords: number; readonly sentences: number };
}

function wholeNumber(value: unknown, name: string, fallback: number, max: number): number {
  if (value === undefined) return fallback;
  if (Number.isInteger(value) && Number(value) >= 1 && Number(value) <= max) return Number(value);
  throw new AgentError('invalid_input', `input.${name} must be a whole number from 1 to ${max}`, 400);
}

/** Returns the text to analyse: `input.text`, or the task itself. Throws `AgentError` that says what is wrong with it. */
export function readRequest(task: string, input: Readonly<Record<string, unknown>>): TextRequest {
  const text = input.text ?? task;
  if (typeof text !== 'string') throw new AgentError('invalid_input', 'input.text must be text', 400);
  if (text.length > maxCharacters)
    throw new AgentError('text_too_long', `The text is longer than ${maxCharacters} characters`, 413);
  if (wordsOf(text).length === 0) throw new AgentError('no_words', 'The text holds no words to analyse', 422);
  return {
    text,
    wanted: {
      keywords: wholeNumber(input.maxKeywords, 'maxKeywords', 10, 50),
      sentences: wholeNumber(input.summarySentences, 'summarySentences', 3, 20),
    },
  };
}
