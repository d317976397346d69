import { isObject } from '../../../lib/json/json-object.ts';
import type { Outcome } from '../../invocation.ts';
import { completed } from '../agent-answer.ts';

/** The end of a completion. */
export const toResult = (
  text: string,
  { finishReason, usage, model }: { finishReason: unknown; usage: unknown; model: unknown },
): Outcome =>
  completed({
    text,
    finishReason: typeof finishReason === 'string' ? finishReason : null,
    usage: isObject(usage) ? usage : null,
    model: typeof model === 'string' ? model : null,
  });
