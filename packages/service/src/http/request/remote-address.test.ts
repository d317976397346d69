import { describe, expect, it } from 'vitest';
import { type AddressRanges, parseAddressRanges } from '../../lib/net/address-ranges.ts';
import { clientAddress } from './remote-address.ts';

const proxies = parseAddressRanges('127.0.0.1, 10.1.0.0/16,2001:db8::/32') as AddressRanges;

describe('the address of a client', () => {
  it.each([
    ['who is no proxy is the client, whatever it says', '203.0.113.9', '198.51.100.1', '203.0.113.9'],
    ['what the proxy heard', '127.0.0.1', '198.51.100.1', '198.51.100.1'],
    ['what the proxy heard, not what the client had written', '127.0.0.1', '1.2.3.4, 198.51.100.1', '198.51.100.1'],
    ['what the first of two proxies heard', '10.1.2.3', '1.2.3.4, 198.51.100.1,127.0.0.1', '198.51.100.1'],
    ['a proxy that says nothing', '127.0.0.1', undefined, '127.0.0.1'],
    ['a proxy that says nonsense', '127.0.0.1', '1.2.3.4, unknown', '127.0.0.1'],
    ['a number, which is no address', '127.0.0.1', '134744072', '127.0.0.1'],
    ['a call of a proxy itself', '127.0.0.1', '10.1.0.1', '10.1.0.1'],
    ['IPv4 in the clothes of IPv6', '::ffff:127.0.0.1', '::ffff:198.51.100.1', '198.51.100.1'],
    ['IPv6', '2001:db8::1', '2001:4860::8888', '2001:4860::8888'],
    ['nobody', 'unknown', '198.51.100.1', 'unknown'],
  ])('%s', (_name, socket, forwarded, client) => {
    expect(clientAddress(socket, forwarded, proxies)).toBe(client);
  });

  it('is that of the connection when no proxy is trusted', () => {
    expect(clientAddress('127.0.0.1', '198.51.100.1', [])).toBe('127.0.0.1');
  });
});
