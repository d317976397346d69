import type { RequestRecord } from '@agent-network/contracts/invocations';

/** Whether it can still be cancelled. */
export const isOpen = ({ status }: Pick<RequestRecord, 'status'>): boolean =>
  status === 'pending' || status === 'processing';
