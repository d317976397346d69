import { createHash, createHmac } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type { BucketSettings } from '../config/files.ts';
import { createGuardedFetch, type GuardedFetch, type GuardedResponse } from '../lib/net/guarded-fetch.ts';
import type { PieceStore } from './file.ts';

const PIECE_BYTES = 1024 * 1024;
const TIMEOUT_MS = 30_000;
const MAX_ANSWER_BYTES = 64 * 1024;
/** A piece is the same however often it is sent. */
const TRIES = 3;
const PAUSE_MS = 200;
const REMOVED_AT_ONCE = 8;

/** The bucket is the operator's own: it may be on a private network. */
export const bucketFetch = (): GuardedFetch =>
  createGuardedFetch({ allowPrivate: true, userAgent: 'agent-network', connections: 64 });

/** Contents in a bucket of an S3-compatible service: an object for each piece. */
export function createBucketStore(bucket: BucketSettings, fetch: GuardedFetch): PieceStore {
  const keyOf = (blobId: string, position: number) => `${blobId}/${position}`;

  async function send(method: string, key: string, { body, maxBytes = MAX_ANSWER_BYTES }: Sent = {}) {
    const url = `${bucket.url}/${key}`;
    for (let tries = 1; ; tries++) {
      const headers = signedHeaders(bucket, { method, url, body, at: new Date() });
      const answer = await fetch
        .request({ ...{ method, url, headers, body, maxBytes }, timeoutMs: TIMEOUT_MS })
        .catch((error: unknown) => {
          if (tries >= TRIES) throw error;
          return null;
        });
      if (answer && !(mayPass(answer) && tries < TRIES)) return answer;
      await delay(PAUSE_MS * tries);
    }
  }

  return {
    name: 's3',
    pieceBytes: PIECE_BYTES,
    async put(blobId, position, bytes) {
      const { status } = await send('PUT', keyOf(blobId, position), { body: bytes });
      if (status !== 200) throw refused('PUT', status);
    },
    async get(blobId, position, maxBytes) {
      const answer = await send('GET', keyOf(blobId, position), { maxBytes: Math.max(maxBytes, MAX_ANSWER_BYTES) });
      if (answer.status === 404) return null;
      if (answer.status !== 200) throw refused('GET', answer.status);
      return answer.body;
    },
    async remove(blobId, pieces) {
      for (let from = 0; from < pieces; from += REMOVED_AT_ONCE) {
        const positions = Array.from({ length: Math.min(REMOVED_AT_ONCE, pieces - from) }, (_, at) => from + at);
        const answers = await Promise.all(positions.map((position) => send('DELETE', keyOf(blobId, position))));
        const failed = answers.find(({ status }) => ![200, 204, 404].includes(status));
        if (failed) throw refused('DELETE', failed.status);
      }
    },
  };
}

interface Sent {
  readonly body?: Buffer;
  readonly maxBytes?: number;
}

const mayPass = ({ status }: GuardedResponse): boolean => status >= 500 || status === 429;

const refused = (method: string, status: number) => new Error(`the bucket answered ${status} to ${method}`);

interface ToSign {
  readonly method: string;
  readonly url: string;
  readonly body?: Uint8Array | undefined;
  readonly at: Date;
  /** Headers that are signed besides. Names in lower case. */
  readonly headers?: Readonly<Record<string, string>>;
}

const sha256 = (data: string | Uint8Array): string => createHash('sha256').update(data).digest('hex');
const hmac = (key: string | Buffer, text: string): Buffer => createHmac('sha256', key).update(text).digest();

/**
 * Headers of a request to S3, signed with AWS Signature Version 4, the hash of the body included. The path has only characters that
 * need no escape, and there is no query.
 */
export function signedHeaders(
  { region, keyId, keySecret }: Pick<BucketSettings, 'region' | 'keyId' | 'keySecret'>,
  { method, url, body = new Uint8Array(), at, headers = {} }: ToSign,
): Record<string, string> {
  const { host, pathname } = new URL(url);
  const time = at.toISOString().replace(/[-:]|\.\d{3}/g, '');
  const day = time.slice(0, 8);
  const hash = sha256(body);
  const sent: Record<string, string> = { ...headers, 'x-amz-content-sha256': hash, 'x-amz-date': time };
  const signed = Object.entries({ ...sent, host }).sort(([a], [b]) => (a < b ? -1 : 1));
  const names = signed.map(([name]) => name).join(';');
  const lines = signed.map(([name, value]) => `${name}:${value}\n`).join('');
  const canonical = [method, pathname, '', lines, names, hash].join('\n');
  const scope = `${day}/${region}/s3/aws4_request`;
  const key = [region, 's3', 'aws4_request'].reduce(hmac, hmac(`AWS4${keySecret}`, day));
  const signature = hmac(key, ['AWS4-HMAC-SHA256', time, scope, sha256(canonical)].join('\n')).toString('hex');
  const authorization = `AWS4-HMAC-SHA256 Credential=${keyId}/${scope}, SignedHeaders=${names}, Signature=${signature}`;
  return { ...sent, authorization };
}
