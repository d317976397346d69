import type { RequestDetail, RequestRecord } from '@agent-network/contracts/invocations/invocations';

/** An invocation with what was asked of it and what happened when. */
export type DetailedRecord = RequestRecord & { readonly detail?: RequestDetail | undefined };

/** Whether it can still be cancelled. */
export const isOpen = ({ status }: Pick<RequestRecord, 'status'>): boolean =>
  status === 'pending' || status === 'processing';

/** Whether there is anything in an object of the API that callers may leave out. */
export const hasAny = (object: object | undefined): object is object =>
  object !== undefined && Object.keys(object).length > 0;
