import { z } from 'zod';
import { endpoint } from '../endpoint.ts';
import { keylessReadHeaders } from '../invocations/invocations.ts';
import { cursorQuery, queryInteger } from '../page.ts';
import { Id, Timestamp } from '../scalars.ts';

/** Id of a file: the SHA-256 of its content. Two accounts that store the same content have one file each. */
export const FileId = z
  .string()
  .regex(/^sha256:[0-9a-f]{64}$/, 'must be sha256: and 64 hex digits')
  .meta({ examples: ['sha256:2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824'] });

const EXAMPLE = '2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824';

/** The id in a path. */
const FileRef = Id.describe('The `fileId`; `sha256:` may be left out.').meta({ examples: [EXAMPLE] });
const Sha256 = z
  .string()
  .regex(/^(sha256:)?[0-9a-f]{64}$/, 'must be the SHA-256 of the content: 64 hex digits')
  .meta({ examples: [EXAMPLE] });

export const StoredFile = z.object({
  fileId: FileId,
  size: z.int().min(0).describe('Bytes.'),
  mediaType: z
    .string()
    .describe('Type of the upload; the content is served as a listed type or as `application/octet-stream`.')
    .meta({ examples: ['image/png'] }),
  name: z.string().nullable().describe('Name of the file, without folders; null: it has none.'),
  createdAt: Timestamp,
  expiresAt: Timestamp.describe('Time from which the file is removed.'),
});
export type StoredFile = z.infer<typeof StoredFile>;

/** A file with a link to its content. */
export const FileDetail = StoredFile.extend({
  url: z
    .url()
    .describe('Link to the content that needs no key, valid for an hour. Whoever has the link can read the content.'),
});
export type FileDetail = z.infer<typeof FileDetail>;

/** Life of a file that no request refers to, in seconds. */
export const fileLife = { min: 3600, max: 30 * 86_400, default: 7 * 86_400 } as const;

/** Bytes of a body or an answer that is no JSON. */
const Bytes = z.custom<Uint8Array<ArrayBuffer>>((value) => value instanceof Uint8Array);

const common = { tag: 'Files', auth: 'key', scope: 'invoke', limit: 'api' } as const;

const upload = {
  ...common,
  bytes: 'sent',
  creates: true,
  query: z.object({
    expiresIn: queryInteger(fileLife.min, fileLife.max)
      .optional()
      .describe('Seconds after which the file is removed, from an hour to 30 days. Default: 7 days.'),
  }),
  headers: z.object({
    'content-type': z.string().max(256).optional().describe('Media type of the content.'),
    'content-disposition': z
      .string()
      .max(2048)
      .optional()
      .describe('The name of the file: `attachment; filename="report.pdf"`.'),
    'content-digest': z
      .string()
      .max(1024)
      .optional()
      .describe('SHA-256 of the content as in RFC 9530 (`sha-256=:…:`). Content with another one is not stored.'),
  }),
  body: Bytes,
  data: StoredFile,
  errors: ['LENGTH_REQUIRED', 'DIGEST_MISMATCH', 'STORAGE_LIMIT_EXCEEDED'],
} as const;

export const fileEndpoints = {
  putFile: endpoint({
    ...upload,
    method: 'PUT',
    path: '/files/{sha256}',
    summary: 'Store a file under the SHA-256 of its content; 201 if it is new, 200 if the account has it already',
    params: z.object({ sha256: Sha256 }),
  }),
  createFile: endpoint({
    ...upload,
    method: 'POST',
    path: '/files',
    summary: 'Store a file; the answer has its SHA-256. For clients that do not hash',
  }),
  listFiles: endpoint({
    ...common,
    method: 'GET',
    path: '/files',
    summary: 'List the stored files, newest first',
    query: z.object({ ...cursorQuery, limit: queryInteger(1, 100).optional() }),
    data: z.object({ files: z.array(StoredFile), nextCursor: z.string().nullable() }),
    errors: [],
  }),
  getFile: endpoint({
    ...common,
    method: 'GET',
    path: '/files/{fileId}',
    summary: 'Read size, type and name of a file, with a link to its content',
    params: z.object({ fileId: FileRef }),
    data: FileDetail,
    errors: ['FILE_GONE'],
  }),
  getFileContent: endpoint({
    ...common,
    bytes: 'answered',
    keyless: 'reads',
    method: 'GET',
    path: '/files/{fileId}/content',
    summary: 'Read the content of a file, or a range of it',
    params: z.object({ fileId: FileRef }),
    query: z.object({
      request: Id.optional().describe(
        'The call whose result has the file; of a link for an agent: the call that it is for.',
      ),
      upload: Id.optional().describe('Of a link: the upload that it belongs to.'),
      exp: queryInteger(0, 99_999_999_999).optional().describe('Of a link: its end, in seconds since 1970.'),
      sig: Id.optional().describe('Of a link: its signature.'),
    }),
    headers: keylessReadHeaders.extend({
      range: z.string().max(256).optional().describe('One range of bytes, as in `bytes=0-1023`.'),
      'if-none-match': z.string().max(2048).optional(),
      'if-range': z.string().max(256).optional(),
    }),
    data: Bytes,
    errors: ['FILE_GONE'],
  }),
  deleteFile: endpoint({
    ...common,
    method: 'DELETE',
    path: '/files/{fileId}',
    summary: 'Delete a file',
    params: z.object({ fileId: FileRef }),
    data: z.object({ fileId: FileId, deleted: z.literal(true) }),
    errors: [],
  }),
};
