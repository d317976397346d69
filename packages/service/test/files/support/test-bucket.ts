import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { BucketSettings } from '../../../src/config/files.ts';
import { signedHeaders } from '../../../src/files/bucket-client.ts';

/** A bucket as an S3-compatible service has it, in memory. It checks signatures and digests. */
export interface TestBucket {
  readonly settings: BucketSettings;
  readonly objects: Map<string, Buffer>;
  /** Answers the next requests with 503. */
  failNext(count: number): void;
  stop(): Promise<void>;
}

const keys = { region: 'us-east-1', keyId: 'AKIATEST', keySecret: 'a secret/of+ours' };

async function bodyOf(request: IncomingMessage): Promise<Buffer> {
  const parts: Buffer[] = [];
  for await (const part of request) parts.push(part as Buffer);
  return Buffer.concat(parts);
}

export async function startTestBucket(): Promise<TestBucket> {
  const objects = new Map<string, Buffer>();
  let failing = 0;
  const server = createServer(async (request, response) => {
    const { method = '', url = '', headers } = request;
    const body = await bodyOf(request);
    const answer = (status: number, content?: Buffer) => response.writeHead(status).end(content);
    if (failing > 0) {
      failing -= 1;
      return answer(503);
    }
    const time = String(headers['x-amz-date']).replace(/(....)(..)(..T..)(..)/, '$1-$2-$3:$4:');
    const expected = signedHeaders(keys, { method, url: `http://${headers.host}${url}`, body, at: new Date(time) });
    if (headers.authorization !== expected.authorization) return answer(403);
    const key = url.replace('/bucket/', '');
    if (method === 'PUT') objects.set(key, body);
    if (method === 'DELETE') return answer(objects.delete(key) ? 204 : 404);
    const found = objects.get(key);
    return found ? answer(200, method === 'GET' ? found : undefined) : answer(404);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    settings: { url: `http://127.0.0.1:${port}/bucket`, ...keys },
    objects,
    failNext(count) {
      failing = count;
    },
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
