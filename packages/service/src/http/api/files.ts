import type { fileEndpoints } from '@agent-network/contracts/files/files';
import { fileLife } from '@agent-network/contracts/files/files';
import type { Hono } from 'hono';
import type { Caller, KnownCaller } from '../../accounts/caller.ts';
import { readInvocations } from '../../calls/read-invocation.ts';
import type { FilePlace } from '../../files/file.ts';
import { nameOf } from '../../files/file-facts.ts';
import { readFileId } from '../../files/file-view.ts';
import { deleteFile, findLinked, listFiles, openContent, readFileDetail, requireFile } from '../../files/read-file.ts';
import { receiveFile } from '../../files/receive-file.ts';
import { requireResultFile } from '../../files/store-result-file.ts';
import { AppError, invalid, notFound } from '../../lib/app-error.ts';
import { isKnown } from '../answer/common-headers.ts';
import { FileAnswer } from '../answer/file-answer.ts';
import { announcedDigest, contentHeaders, mediaTypeOf, rangeOf } from '../answer/file-headers.ts';
import type { HandlerCall, Handlers } from '../request/handler.ts';
import type { HttpContext } from '../request/http-context.ts';
import type { Upload } from '../request/upload.ts';
import { readerOf } from './reader-of.ts';

interface UploadCall {
  readonly caller: KnownCaller;
  readonly upload: Upload;
  readonly query: { readonly expiresIn?: number | undefined };
  setCreated(): void;
}

async function storeUpload(ctx: HttpContext, call: UploadCall, sha256: Buffer | null) {
  const { caller, upload, query } = call;
  const digest = announcedDigest(upload.header('content-digest'));
  if (digest && sha256 && !digest.equals(sha256))
    throw new AppError('DIGEST_MISMATCH', 'Content-Digest and the path have different hashes. Nothing was stored.');
  const announced = {
    sha256: sha256 ?? digest,
    size: lengthOf(upload),
    mediaType: mediaTypeOf(upload.header('content-type')),
    name: nameOf(upload.header('content-disposition')),
    lifeS: query.expiresIn ?? fileLife.default,
    network: upload.network,
  };
  const { file, isNew } = await receiveFile(ctx, caller, announced, upload);
  if (isNew) call.setCreated();
  return file;
}

function lengthOf({ header }: Upload): number {
  const text = header('content-length');
  if (text === undefined) throw new AppError('LENGTH_REQUIRED', 'Send the length of the file in Content-Length.');
  if (!/^(identity)?$/i.test(header('content-encoding')?.trim() ?? ''))
    throw invalid('Content-Encoding', 'must be left out: files are stored as they are sent');
  return Number(text);
}

/** The file that a caller may read: its own, one of the result of its request, or that of a link. */
async function readable(
  ctx: HttpContext,
  caller: Caller,
  {
    params,
    query,
    headers,
  }: Pick<HandlerCall<(typeof fileEndpoints)['getFileContent']>, 'params' | 'query' | 'headers'>,
): Promise<FilePlace> {
  if (query.sig !== undefined) return findLinked(ctx, params.fileId, query);
  if (query.request !== undefined) {
    const reader = await readerOf(ctx, caller, { requestId: query.request, headers });
    await readInvocations(ctx, reader, [query.request], { withResults: false });
    return requireResultFile(ctx.db, query.request, readFileId(params.fileId));
  }
  if (caller.kind !== 'anonymous') return requireFile(ctx, caller, params.fileId);
  throw new AppError(
    'UNAUTHORIZED',
    'Send "Authorization: Bearer <API key>", or name the call in ?request= with its X-Result-Token, or use a link to the file.',
  );
}

const CONTENT = /^\/files\/[^/]+\/content$/;

/**
 * At the origin of contents nothing else is served, so that whatever a content does there, it has nothing to do it with: no cookies, no
 * pages, no other calls.
 */
export function keepContentsApart(
  app: Hono,
  { baseUrl, filesBaseUrl }: Pick<HttpContext, 'baseUrl' | 'filesBaseUrl'>,
): void {
  const { host } = new URL(filesBaseUrl);
  if (host === new URL(baseUrl).host) return;
  app.use('*', async (c, next) => {
    const isContent = CONTENT.test(c.req.path) && ['GET', 'HEAD', 'OPTIONS'].includes(c.req.method);
    if (c.req.header('host')?.toLowerCase() === host && !isContent) throw notFound('page');
    await next();
  });
}

export const fileHandlers = {
  putFile: (ctx, call) => storeUpload(ctx, call, readFileId(call.params.sha256)),
  createFile: (ctx, call) => storeUpload(ctx, call, null),
  listFiles: (ctx, { caller, query }) => listFiles(ctx, caller, query),
  getFile: (ctx, { caller, params }) => readFileDetail(ctx, caller, params.fileId),
  deleteFile: (ctx, { caller, params }) => deleteFile(ctx, caller, params.fileId),
  async getFileContent(ctx, call) {
    const { headers } = call;
    const file = await readable(ctx, call.caller, call);
    const tag = `"${file.sha256.toString('hex')}"`;
    const shown = contentHeaders(file, tag);
    if (isKnown(headers['if-none-match'], tag)) return new FileAnswer(304, shown);
    const isSame = headers['if-range'] === undefined || headers['if-range'] === tag;
    const range = rangeOf(isSame ? headers.range : undefined, file.size);
    if (range === 'unsatisfiable') return new FileAnswer(416, { 'content-range': `bytes */${file.size}` });
    const { from, before } = range ?? { from: 0, before: file.size };
    const content = await openContent(ctx, file, { from, before });
    const held = Math.min(file.pieceBytes, before - from);
    const length = { 'content-length': String(before - from) };
    if (!range) return new FileAnswer(200, { ...shown, ...length }, content, held);
    const ofPart = { ...length, 'content-range': `bytes ${from}-${before - 1}/${file.size}` };
    return new FileAnswer(206, { ...shown, ...ofPart }, content, held);
  },
} satisfies Handlers<keyof typeof fileEndpoints>;
