import type { Message } from '@agent-network/contracts/openai';

/** Longest task and context of an invocation. */
const MAX_CHARS = 100_000;

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
 * The task of a conversation, and what was said before. A context beyond the limit loses its oldest lines: the whole conversation is in the
 * input.
 */
export function readConversation(messages: readonly Message[], before: readonly string[] = []): Conversation {
  const last = messages.findLastIndex(({ role, content }) => role === 'user' && textOfContent(content).trim() !== '');
  if (last < 0) return { task: null, context: null };
  const lines = messages.slice(0, last).flatMap(({ role, content }) => {
    const text = textOfContent(content);
    return text === '' ? [] : [`${role ?? 'user'}: ${text}`];
  });
  const context = [...before, ...lines].join('\n');
  return { task: textOfContent(messages[last]?.content), context: context === '' ? null : context.slice(-MAX_CHARS) };
}
