/** The pause that a `Retry-After` header asks for (RFC 9110, section 10.2.3), in milliseconds; null when it asks for none. */
export function retryAfterMs(header: string | readonly string[] | null | undefined, now: Date): number | null {
  if (typeof header !== 'string') return null;
  const ms = /^\d{1,10}$/.test(header) ? Number(header) * 1000 : Date.parse(header) - now.getTime();
  return ms > 0 ? ms : null;
}
