interface Resumed {
  readonly headers: { readonly 'last-event-id'?: string | undefined };
  readonly query: { readonly after?: number | undefined; readonly lastEventId?: number | undefined };
}

/**
 * The event that a stream goes on after: the header of clients that reconnect (an empty one says nothing, as in the EventSource of
 * browsers), the query of polyfills, which reconnect with the address they have, then `after`; null: none is named.
 */
export function resumeAfter({ headers, query }: Resumed): number | null {
  const id = headers['last-event-id'];
  return id ? Number(id) : (query.lastEventId ?? query.after ?? null);
}
