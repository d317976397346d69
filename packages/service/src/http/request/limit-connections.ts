import type { Server } from 'node:http';
import type { Config } from '../../config.ts';
import { isInRanges, networkOf } from '../../lib/net/address-ranges.ts';

/**
 * Ends connections beyond the limit of one network address, or of all. Trusted proxies carry many clients and must limit those themselves.
 */
export function limitConnections(
  server: Server,
  { connectionLimits, trustedProxies }: Pick<Config, 'connectionLimits' | 'trustedProxies'>,
): void {
  const open = new Map<string, number>();
  server.maxConnections = connectionLimits.most;
  server.on('connection', (socket) => {
    const address = socket.remoteAddress;
    if (address === undefined || isInRanges(address, trustedProxies)) return;
    const network = networkOf(address) ?? address;
    const count = (open.get(network) ?? 0) + 1;
    open.set(network, count);
    socket.once('close', () => {
      const left = (open.get(network) ?? 0) - 1;
      if (left > 0) open.set(network, left);
      else open.delete(network);
    });
    if (count > connectionLimits.mostOfAddress) socket.destroy();
  });
}
