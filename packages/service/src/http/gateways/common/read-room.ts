import { countUntilTaken } from '../../api/mount.ts';
import type { GatewayRequest } from './gateway-request.ts';

/**
 * Admits a read that a gateway makes beside its calls of endpoints; it counts in the room of its readers as those calls do. `operation`: the
 * endpoint that reads the same, or a name of the gateway's own.
 */
export const admitRead = ({ room, readers }: GatewayRequest, operation: string): void => room.admit(readers, operation);

/** Counts an answer, as it is sent, until it is taken. Throws RATE_LIMITED or UNAVAILABLE while too much is unread. */
export const countRead = ({ c, room, readers }: GatewayRequest, operation: string, json: string): void =>
  countUntilTaken(c, (bytes) => room.take(readers, operation, bytes), json);

/** Counts the bytes of a stream that only reads. */
export const streamedTo =
  ({ room, readers }: GatewayRequest, operation: string) =>
  (bytes: number): void =>
    room.streamed(readers, operation, bytes);
