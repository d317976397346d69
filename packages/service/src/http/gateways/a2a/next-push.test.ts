import { expect, it } from 'vitest';
import { nextPush, type ToldState } from './next-push.ts';

const statuses = ['pending', 'processing', 'input_required', 'completed', 'failed', 'cancelled'] as const;

/** All messages that a receiver gets as a request goes through these states, each looked at until nothing is new. */
function messagesOf(course: readonly (typeof statuses)[number][]): string[] {
  let told: ToldState = 'nothing';
  let turn = 1;
  return course.flatMap((status, at) => {
    if (at > 0 && course[at - 1] === 'input_required') turn += 1;
    const messages: string[] = [];
    for (let push = nextPush(told, { status, turn }); push; push = nextPush(told, { status, turn })) {
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
  [
    ['processing', 'input_required', 'processing', 'input_required', 'failed'],
    ['task', 'status', 'status', 'status', 'status'],
  ],
  // Two questions, with nothing seen between them.
  [
    ['input_required', 'input_required', 'completed'],
    ['task', 'status', 'result', 'status'],
  ],
] as const)('for a request in the states %s, a receiver gets %s', (course, messages) => {
  expect(messagesOf(course)).toEqual(messages);
});

it('nothing follows the end', () => {
  for (const status of statuses) expect(nextPush('ended', { status })).toBeNull();
});
