import { once } from 'node:events';
import type { Writable } from 'node:stream';
import type pg from 'pg';

/** The part of pg's connection that a COPY speaks to. */
interface Connection {
  readonly stream: Writable;
  query(text: string): void;
  sendCopyFromChunk(chunk: Buffer): void;
  endCopyFrom(): void;
  sendCopyFail(message: string): void;
}

/** Runs `copy … from stdin` with these pieces of input. */
export function copyInto(client: pg.Client, statement: string, pieces: Iterable<Buffer>): Promise<void> {
  return new Promise((resolve, reject) => {
    let failure: unknown;
    const send = async (connection: Connection) => {
      try {
        for (const piece of pieces) {
          connection.sendCopyFromChunk(piece);
          if (connection.stream.writableNeedDrain) await once(connection.stream, 'drain');
        }
        connection.endCopyFrom();
      } catch (error) {
        connection.sendCopyFail(String(error));
      }
    };
    const copy = {
      submit: (connection: Connection) => connection.query(statement),
      handleCopyInResponse: (connection: Connection) => void send(connection),
      handleCommandComplete() {},
      handleError(error: unknown) {
        failure = error;
      },
      handleReadyForQuery: () => (failure === undefined ? resolve() : reject(failure)),
    };
    client.query(copy as unknown as pg.Submittable);
  });
}
