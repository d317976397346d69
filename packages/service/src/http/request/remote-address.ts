import { getConnInfo } from '@hono/node-server/conninfo';
import type { Context } from 'hono';
import { type AddressRanges, isInRanges, normalAddress } from '../../lib/net/address-ranges.ts';

export interface HasTrustedProxies {
  /** Who may say in `X-Forwarded-For` whom a request comes from. */
  readonly trustedProxies: AddressRanges;
}

/** The address at the other end of the connection; a request without a socket (in tests) comes from nowhere. */
export function socketAddressOf(c: Context): string {
  try {
    return getConnInfo(c).remote.address ?? 'unknown';
  } catch {
    return 'unknown';
  }
}

/** The network address of the client. */
export const addressOf = (ctx: HasTrustedProxies, c: Context): string =>
  clientAddress(socketAddressOf(c), c.req.header('x-forwarded-for'), ctx.trustedProxies);

/**
 * Whom a request comes from: the other end of the connection, or, as long as that is a proxy of ours, whom the proxy says that it
 * heard. What stands further left in `X-Forwarded-For` anybody may have written.
 */
export function clientAddress(socketAddress: string, forwardedFor: string | undefined, proxies: AddressRanges): string {
  let address = socketAddress;
  for (const said of forwardedFor?.split(',').toReversed() ?? []) {
    const before = isInRanges(address, proxies) ? normalAddress(said.trim()) : null;
    if (before === null) break;
    address = before;
  }
  return address;
}
