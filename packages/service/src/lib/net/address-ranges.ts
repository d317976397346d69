import ipaddr from 'ipaddr.js';
import { createBoundedCache } from '../bounded-cache.ts';

/** Ranges of IP addresses. */
export type AddressRanges = readonly (readonly [ipaddr.IPv4 | ipaddr.IPv6, number])[];

/** Parses comma-separated addresses and CIDR ranges; null when one is invalid. */
export function parseAddressRanges(text: string): AddressRanges | null {
  const parts = text === '' ? [] : text.split(',').map((part) => part.trim());
  if (!parts.every((part) => ipaddr.isValidCIDR(part) || isAddress(part))) return null;
  return parts.map((part) => {
    if (ipaddr.isValidCIDR(part)) return ipaddr.parseCIDR(part);
    const address = ipaddr.process(part);
    return [address, address.kind() === 'ipv4' ? 32 : 128] as const;
  });
}

/** True if an address is in one of the ranges; IPv4-mapped IPv6 counts as IPv4. False for anything that is not an address. */
export function isInRanges(address: string, ranges: AddressRanges): boolean {
  if (!isAddress(address)) return false;
  const parsed = ipaddr.process(address);
  return ranges.some(([range, bits]) => parsed.kind() === range.kind() && parsed.match(range, bits));
}

/** Normalises an address; null for anything else. */
export const normalAddress = (text: string): string | null =>
  isAddress(text) ? ipaddr.process(text).toString() : null;

/** Returns the IPv4 address, or the /64 of an IPv6 address, which one client gets and cannot multiply; null for anything else. */
export function networkOf(text: string): string | null {
  const known = networks.get(text);
  if (known !== undefined) return known;
  const network = readNetwork(text);
  if (network !== null) networks.set(text, network);
  return network;
}

/** The networks that one customer of a provider may have: the /24 of an IPv4 address, the /56 of an IPv6 address; null for anything else. */
export function siteOf(text: string): string | null {
  const network = networkOf(text);
  if (network === null) return null;
  const address = ipaddr.process(network.replace(/\/64$/, ''));
  if (address.kind() === 'ipv4') return `${address.toByteArray().slice(0, 3).join('.')}.0/24`;
  const [a = 0, b = 0, c = 0, d = 0] = (address as ipaddr.IPv6).parts;
  return `${new ipaddr.IPv6([a, b, c, d & 0xff00, 0, 0, 0, 0]).toString()}/56`;
}

/** Cache of networks by address, as each request needs it several times. */
const networks = createBoundedCache<string>(10_000);

function readNetwork(text: string): string | null {
  const bare = text.replace(/%.*$/, '');
  if (!isAddress(bare)) return null;
  const address = ipaddr.process(bare);
  if (address.kind() === 'ipv4') return address.toString();
  const network = [...(address as ipaddr.IPv6).parts.slice(0, 4), 0, 0, 0, 0];
  return `${new ipaddr.IPv6(network).toString()}/64`;
}

/** True for four decimal parts or IPv6: proxies do not send the other notations of IPv4. */
const isAddress = (text: string) => ipaddr.IPv4.isValidFourPartDecimal(text) || ipaddr.IPv6.isValid(text);
