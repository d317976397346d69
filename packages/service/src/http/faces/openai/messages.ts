import type { Message } from '@agent-network/contracts/openai';

/** Longest task and context of an invocation. */
const MAX_CHARS = 100_000;

/** Characters that no context may hold: answers of agents and of tools have them, and the one who goes on cannot mend those. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: replacing control characters is the point
const UNFIT = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f\u202a-\u202e\u2066-\u2069]/g;

/** The end of what was said before, as text that a context takes; null: nothing was said. */
const contextOf = (text: string): string | null =>
  text === '' ? null : text.slice(-MAX_CHARS).replace(UNFIT, ' ').toWellFormed();

/** The text of a message: a string, or its text parts. */
export function textOfContent(content: Message['content']): string {
  if (typeof content === 'string') return content;
  return (content ?? []).flatMap(({ text }) => (text === undefined ? [] : [text])).join('\n');
}

export interface Conversation {
  /** Text of the last message of the user; null: there is none. */
  readonly task: string | null;
  /** The earlier messages, as `role: text` lines; null: none. */
  readonly context: string | null;
}

/**
 * The task of a conversation, and what was said before. A context beyond the limit loses its beginning, and characters that cannot be shown
 * are replaced: the whole conversation is in the input.
 */
export function readConversation(messages: readonly Message[]): Conversation {
  const last = messages.findLastIndex(({ role, content }) => role === 'user' && textOfContent(content).trim() !== '');
  if (last < 0) return { task: null, context: null };
  const lines = messages.slice(0, last).flatMap(({ role, content }) => {
    const text = textOfContent(content);
    return text === '' ? [] : [`${role ?? 'user'}: ${text}`];
  });
  return { task: textOfContent(messages[last]?.content), context: contextOf(lines.join('\n')) };
}
