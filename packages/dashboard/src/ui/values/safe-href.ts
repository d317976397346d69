/** The address, if a link may lead there: http and https only. null for anything else, however it is written. */
export function safeHref(text: string): string | null {
  const url = URL.parse(text);
  return url && /^https?:$/.test(url.protocol) ? url.href : null;
}
