import { Socket } from 'node:net';

/** A socket for a database connection: what is written in one go of the event loop leaves in one piece. */
export const openSocket = (): Socket => new GatheringSocket();

class GatheringSocket extends Socket {
  #isGathering = false;

  override write(...args: unknown[]): boolean {
    if (!this.#isGathering) {
      this.#isGathering = true;
      this.cork();
      process.nextTick(() => {
        this.#isGathering = false;
        this.uncork();
      });
    }
    return super.write(...(args as Parameters<Socket['write']>));
  }
}
