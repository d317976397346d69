import type { RequestRecord } from '@agent-network/contracts/invocations/invocations';

/** State of a task as of the last push to its receiver. */
export type ToldState = 'nothing' | 'pending' | 'processing' | 'result' | 'ended';

export interface Push {
  readonly what: 'task' | 'status' | 'result';
  /** State of the receiver after this push. */
  readonly told: ToldState;
}

/** The next message about a task; null: nothing new. After the end there are no more messages. */
export function nextPush(told: ToldState, now: RequestRecord['status']): Push | null {
  const status = now === 'input_required' ? 'processing' : now;
  const isOpen = status === 'pending' || status === 'processing';
  if (told === 'ended' || told === status) return null;
  if (told === 'nothing') return { what: 'task', told: isOpen ? status : 'ended' };
  if (told === 'result') return { what: 'status', told: 'ended' };
  if (status === 'pending') return null;
  if (status === 'processing') return { what: 'status', told: 'processing' };
  return status === 'completed' ? { what: 'result', told: 'result' } : { what: 'status', told: 'ended' };
}
