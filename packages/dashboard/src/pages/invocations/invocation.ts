import type { RequestDetail, RequestRecord } from '@agent-network/contracts/invocations/invocations';

/** An invocation with what was asked of it and what happened when. */
export type DetailedRecord = RequestRecord & { readonly detail?: RequestDetail | undefined };

/** True if the invocation can still be cancelled. */
export const isOpen = ({ status }: Pick<RequestRecord, 'status'>): boolean =>
  status === 'pending' || status === 'processing';

/** True if an optional object of the API has any field. */
export const hasAny = (object: object | undefined): object is object =>
  object !== undefined && Object.keys(object).length > 0;
