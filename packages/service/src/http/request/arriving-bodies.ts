import { AppError } from '../../lib/app-error.ts';
import { createHeldBytes } from '../answer/held-bytes.ts';

/** Maximum bytes of bodies that are not whole yet, of one network and in all: they are held for a minute when they come slowly. */
export const MAX_OF_NETWORK_BYTES = 32 * 1024 * 1024;
const MAX_BYTES = 256 * 1024 * 1024;
/** Bytes that are taken of each body whatever the totals are, so that large bodies do not shut out small ones. */
export const SMALL_BYTES = 64 * 1024;

export interface ArrivingBodies {
  /** A body of a network that begins to arrive. */
  open(network: string): ArrivingBody;
}

export interface ArrivingBody {
  /** Counts further bytes. Throws UNAVAILABLE while too much is arriving. */
  add(bytes: number): void;
  /** Frees its bytes: it is whole, or is not read to its end. */
  close(): void;
}

export function createArrivingBodies(): ArrivingBodies {
  const held = createHeldBytes();
  return {
    open(network) {
      let own = 0;
      return {
        add(bytes) {
          if (own + bytes > SMALL_BYTES) {
            if (held.of(network) + bytes > MAX_OF_NETWORK_BYTES) throw tooMuch('Your network address is sending');
            if (held.all() + bytes > MAX_BYTES) throw tooMuch('The node is being sent');
          }
          held.add([network], bytes);
          own += bytes;
        },
        close() {
          held.add([network], -own);
          own = 0;
        },
      };
    },
  };
}

export const tooMuch = (who: string) =>
  new AppError(
    'UNAVAILABLE',
    `${who} too many large bodies at once. Nothing was done with this request; repeat it unchanged, with the same payment or Idempotency-Key, later.`,
    { details: { outcome: 'nothing' } },
  );
