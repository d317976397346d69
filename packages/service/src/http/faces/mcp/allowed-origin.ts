import { isLoopbackHost } from '../../../lib/net/guarded-fetch-address.ts';

/** Address of the node, and the pages that may call its MCP face. */
export interface McpPlace {
  readonly baseUrl: string;
  /** True if only programs of this machine reach the listener. */
  readonly isLoopbackListener: boolean;
  /** Origins of pages, as configured; null: the node's own. */
  readonly allowedOrigins: readonly string[] | null;
}

/**
 * True for a request without `Origin`, and for one from an allowed page: by default from the node's own and, on a loopback listener, from
 * any page of this machine.
 */
export function isAllowedOrigin(place: McpPlace, origin: string | undefined): boolean {
  if (origin === undefined) return true;
  if (place.allowedOrigins) return place.allowedOrigins.includes(origin);
  const url = URL.parse(origin);
  if (!url || url.origin !== origin) return false;
  if (url.origin === new URL(place.baseUrl).origin) return true;
  return place.isLoopbackListener && isLoopbackHost(url.hostname);
}

/** True unless a name of another site was resolved to this machine (DNS rebinding): a loopback listener knows the names it is called by. */
export function isAllowedHost(place: McpPlace, host: string | undefined): boolean {
  if (!place.isLoopbackListener) return true;
  const hostname = host === undefined ? undefined : URL.parse(`http://${host}`)?.hostname;
  if (hostname === undefined) return false;
  return isLoopbackHost(hostname) || hostname === new URL(place.baseUrl).hostname;
}
