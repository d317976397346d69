import type { RequestRecord } from '@agent-network/contracts/invocations/invocations';

/** The last state that the receiver of a task's pushes was told. */
export type ToldState = 'nothing' | 'pending' | 'processing' | 'result' | 'ended';

export interface Push {
  readonly what: 'task' | 'status' | 'result';
  /** The state that it has been told by then. */
  readonly told: ToldState;
}

/** The next message about a task; null: there is nothing new. A receiver that was told of the end gets no more. */
export function nextPush(told: ToldState, status: RequestRecord['status']): Push | null {
  const isOpen = status === 'pending' || status === 'processing';
  if (told === 'ended' || told === status) return null;
  if (told === 'nothing') return { what: 'task', told: isOpen ? status : 'ended' };
  if (told === 'result') return { what: 'status', told: 'ended' };
  if (status === 'pending') return null;
  if (status === 'processing') return { what: 'status', told: 'processing' };
  return status === 'completed' ? { what: 'result', told: 'result' } : { what: 'status', told: 'ended' };
}
