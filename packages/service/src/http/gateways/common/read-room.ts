import { countUntilTaken } from '../../api/mount.ts';
import type { GatewayRequest } from './gateway-request.ts';

/**
 * Admits a read that a gateway makes itself, besides its calls of endpoints; it counts for its readers as those calls do. `operation`: the
 * endpoint with the same data, or a name of the gateway's own.
 */
export const admitRead = ({ room, readers }: GatewayRequest, operation: string): void => room.admit(readers, operation);

/** Counts an answer from sending until it is read. Throws RATE_LIMITED or UNAVAILABLE while too much is unread. */
export const countRead = ({ c, room, readers }: GatewayRequest, operation: string, json: string): void =>
  countUntilTaken(c, (bytes) => room.take(readers, operation, bytes), json);

/** Counts the bytes of a stream that only reads. */
export const streamedTo =
  ({ room, readers }: GatewayRequest, operation: string) =>
  (bytes: number): void =>
    room.streamed(readers, operation, bytes);
