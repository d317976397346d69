import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';

const MAX_URL_LENGTH = 2048;

/** Suffixes of names for this machine or this network: RFC 6761, RFC 6762, RFC 8375, and ICANN's reserved `.internal`. */
const PRIVATE_SUFFIX = /(^|\.)(localhost|local|internal|intranet|lan|home|corp|home\.arpa)$/;

const PRIVATE_RANGES = new Set(['private', 'loopback', 'uniqueLocal']);

/** Amazon's instance metadata address, which lies inside of the range for private networks. */
const METADATA_ADDRESS = 'fd00:ec2::254';

export type UrlCheck = { ok: true; url: URL } | { ok: false; kind: 'invalid_url' | 'blocked'; reason: string };

/** True if the node may connect to an IP address: public unicast and, with `allowPrivate`, loopback and private networks. */
export function isAllowedAddress(address: string, allowPrivate: boolean): boolean {
  if (!ipaddr.isValid(address)) return false;
  const parsed = ipaddr.process(address);
  const range = parsed.range();
  if (range === 'unicast') return parsed instanceof ipaddr.IPv4 || isGlobalUnicast(parsed);
  return allowPrivate && PRIVATE_RANGES.has(range) && parsed.toString() !== METADATA_ADDRESS;
}

/** True if an address is loopback, 127.0.0.0/8 or ::1 in any spelling. False for anything that is not an address. */
export function isLoopback(address: string): boolean {
  return ipaddr.isValid(address) && ipaddr.process(address).range() === 'loopback';
}

/** True if a host name, as URLs spell it, always means this machine. */
export const isLoopbackHost = (hostname: string): boolean =>
  hostname === 'localhost' || isLoopback(hostname.replace(/^\[(.*)\]$/, '$1'));

/** The reason why others cannot, or should not, reach the node at its public address; null: none. */
export function faultOfAddress(baseUrl: string): string | null {
  const { hostname, protocol } = new URL(baseUrl);
  if (isLoopbackHost(hostname)) return 'it is an address of this machine, which others cannot reach';
  return protocol === 'https:' ? null : 'it is not https: keys and results travel in the clear';
}

/**
 * True for global unicast, which IANA assigns from 2000::/3 only; ipaddr.js also calls unassigned addresses outside of it unicast,
 * `::7f00:1` among them.
 */
function isGlobalUnicast(address: ipaddr.IPv6): boolean {
  return (address.parts[0] ?? 0) >>> 13 === 1;
}

/**
 * Checks a URL before anything is resolved, at registration and again at every call. Public rules: https, a public name or address, port
 * 80, 443 or from 1024 up (the other low ports belong to mail, shells and the like). With `allowPrivate`: http as well, any port, any name.
 * Never user info. `reason` is public.
 */
export function checkUrl(url: string, { allowPrivate }: { allowPrivate: boolean }): UrlCheck {
  const parsed = url.length <= MAX_URL_LENGTH ? URL.parse(url) : null;
  if (!parsed) return refuse(`must be an absolute URL of at most ${MAX_URL_LENGTH} characters`);
  if (parsed.protocol !== 'https:' && !(allowPrivate && parsed.protocol === 'http:')) {
    return refuse(allowPrivate ? 'must be an http or https URL' : 'must be an https URL');
  }
  if (parsed.username || parsed.password) return refuse('must not contain a user name or password');
  if (!allowPrivate && !isAllowedPort(parsed.port)) return refuse('must use port 80, 443 or one from 1024 up');
  return checkHost(hostOf(parsed), allowPrivate)
    ? { ok: true, url: parsed }
    : refuse('must have a public host', 'blocked');
}

/** Returns the host as a resolver expects it: no brackets around IPv6. */
function hostOf(url: URL): string {
  return url.hostname.replace(/^\[|\]$/g, '');
}

function checkHost(host: string, allowPrivate: boolean): boolean {
  if (isIP(host)) return isAllowedAddress(host, allowPrivate);
  if (allowPrivate) return true;
  const name = host.replace(/\.$/, '');
  return name.includes('.') && !PRIVATE_SUFFIX.test(name);
}

function isAllowedPort(port: string): boolean {
  return port === '' || port === '80' || Number(port) >= 1024;
}

function refuse(reason: string, kind: 'invalid_url' | 'blocked' = 'invalid_url'): UrlCheck {
  return { ok: false, kind, reason };
}
