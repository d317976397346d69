import { createHash, randomBytes } from 'node:crypto';
import { createApp } from '../../../src/compose/app.ts';
import type { NodeContext } from '../../../src/compose/context.ts';
import { removeFiles } from '../../../src/files/remove-files.ts';
import type { Harness } from '../../support/harness.ts';

export const sha256Of = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex');

/** Bytes that no compression makes smaller. */
export const newContent = (size: number): Buffer<ArrayBuffer> => Buffer.from(randomBytes(size));

/** A process of the node with other parts, without a socket. */
export function processWith(h: Harness, parts: Partial<NodeContext>) {
  const app = createApp({ ...h.ctx, ...parts });
  return {
    async call(
      method: string,
      path: string,
      { key, body, headers }: { key?: string; body?: Uint8Array<ArrayBuffer>; headers?: Record<string, string> } = {},
    ) {
      const response = await app.request(path, {
        method,
        headers: {
          ...(key === undefined ? {} : { authorization: `Bearer ${key}` }),
          ...(body === undefined ? {} : { 'content-length': String(body.byteLength) }),
          ...headers,
        },
        ...(body === undefined ? {} : { body }),
      });
      const bytes = Buffer.from(await response.arrayBuffer());
      const isJson = response.headers.get('content-type') === 'application/json' && !response.headers.has('etag');
      return {
        status: response.status,
        headers: response.headers,
        bytes,
        body: isJson ? JSON.parse(bytes.toString()) : null,
      };
    },
  };
}

/** What is stored of files, by table, and the bytes that count for an account. */
export async function storedFiles(h: Pick<Harness, 'ctx'>, accountId: string) {
  const [row] = await h.ctx.db.query<{ files: number; blobs: number; pieces: number; counted: number }>(
    '',
    `select (select count(*)::int from file f join file_blob b on b.id = f.blob_id where b.account_id = $1) as files,
            (select count(*)::int from file_blob where account_id = $1) as blobs,
            (select count(*)::int from file_piece p join file_blob b on b.id = p.blob_id where b.account_id = $1) as pieces,
            (select coalesce((select bytes from account_storage where account_id = $1), 0)
              + coalesce((select sum(bytes) from storage_change where account_id = $1), 0))::int as counted`,
    [accountId],
  );
  return row;
}

export const nothingStored = { files: 0, blobs: 0, pieces: 0, counted: 0 };

/** Removes what has left, as the node does every few seconds. */
export const removeNow = (h: Pick<Harness, 'ctx'>): Promise<void> => removeFiles(h.ctx);

/** The node's own removals wait: the test says when. */
export const holdRemovals = async (h: Pick<Harness, 'ctx'>): Promise<void> =>
  void (await h.ctx.db.query(
    '',
    `insert into recurring (name, due_at) values ('remove-files', now() + interval '1 day')
     on conflict (name) do update set due_at = excluded.due_at`,
  ));
