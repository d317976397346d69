import { expect, it } from 'vitest';
import { nextPush, type ToldState } from './next-push.ts';

const statuses = ['pending', 'processing', 'completed', 'failed', 'cancelled'] as const;

/** All messages that a receiver gets as a request goes through these states, each looked at until nothing is new. */
function messagesOf(course: readonly (typeof statuses)[number][]): string[] {
  let told: ToldState = 'nothing';
  return course.flatMap((status) => {
    const messages: string[] = [];
    for (let push = nextPush(told, status); push; push = nextPush(told, status)) {
      told = push.told;
      messages.push(push.what);
    }
    return messages;
  });
}

it.each([
  [
    ['pending', 'processing', 'completed'],
    ['task', 'status', 'result', 'status'],
  ],
  [
    ['processing', 'failed'],
    ['task', 'status'],
  ],
  [
    ['pending', 'cancelled'],
    ['task', 'status'],
  ],
  [
    ['pending', 'completed'],
    ['task', 'result', 'status'],
  ],
  [['completed'], ['task']],
  [['failed', 'failed'], ['task']],
] as const)('for a request in the states %s, a receiver gets %s', (course, messages) => {
  expect(messagesOf(course)).toEqual(messages);
});

it('nothing follows the end', () => {
  for (const status of statuses) expect(nextPush('ended', status)).toBeNull();
});
