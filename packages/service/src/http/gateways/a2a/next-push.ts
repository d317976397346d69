import { openStatuses, type RequestRecord } from '@agent-network/contracts/invocations/invocations';

/** State of a task as of the last push to its receiver; of a question, with its turn. */
export type ToldState = 'nothing' | 'pending' | 'processing' | `input_required:${number}` | 'result' | 'ended';

export interface Push {
  readonly what: 'task' | 'status' | 'result';
  /** State of the receiver after this push. */
  readonly told: ToldState;
}

/** The next message about a task; null: nothing new. After the end there are no more messages. */
export function nextPush(told: ToldState, { status, turn = 1 }: Pick<RequestRecord, 'status' | 'turn'>): Push | null {
  const open = openStatuses.includes(status)
    ? ((status === 'input_required' ? `${status}:${turn}` : status) as ToldState)
    : null;
  if (told === 'ended' || told === open) return null;
  if (told === 'nothing') return { what: 'task', told: open ?? 'ended' };
  if (told === 'result') return { what: 'status', told: 'ended' };
  if (open === 'pending') return null;
  if (open !== null) return { what: 'status', told: open };
  return status === 'completed' ? { what: 'result', told: 'result' } : { what: 'status', told: 'ended' };
}
