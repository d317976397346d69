import ipaddr from 'ipaddr.js';

/** IP addresses, told by ranges. */
export type AddressRanges = readonly (readonly [ipaddr.IPv4 | ipaddr.IPv6, number])[];

/** Reads addresses and CIDR ranges with commas between; null when one is neither. */
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

/** The one way to write an address; null for what is none. */
export const normalAddress = (text: string): string | null =>
  isAddress(text) ? ipaddr.process(text).toString() : null;

/** The IPv4 address, or the /64 of an IPv6 address: what one client is given, and can't multiply; null for what is no address. */
export function networkOf(text: string): string | null {
  const bare = text.replace(/%.*$/, '');
  if (!isAddress(bare)) return null;
  const address = ipaddr.process(bare);
  if (address.kind() === 'ipv4') return address.toString();
  const network = [...(address as ipaddr.IPv6).parts.slice(0, 4), 0, 0, 0, 0];
  return `${new ipaddr.IPv6(network).toString()}/64`;
}

/** Four decimal parts or IPv6: the other ways to write IPv4 are not what proxies send. */
const isAddress = (text: string) => ipaddr.IPv4.isValidFourPartDecimal(text) || ipaddr.IPv6.isValid(text);
