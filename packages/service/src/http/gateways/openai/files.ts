import { fileLife, type StoredFile } from '@agent-network/contracts/files/files';
import { requireScope } from '../../../accounts/caller.ts';
import { readMediaType, UNKNOWN_TYPE } from '../../../files/file-facts.ts';
import { readFileId } from '../../../files/file-view.ts';
import { requireFile } from '../../../files/read-file.ts';
import { AppError, invalidFields, notFound } from '../../../lib/app-error.ts';
import { isObject, type Json } from '../../../lib/json/json-object.ts';
import { pageCursor } from '../../../lib/page-position.ts';
import type { HttpContext } from '../../request/http-context.ts';
import { callEndpoint } from '../common/call-endpoint.ts';
import { storeForGateway } from '../common/gateway-files.ts';
import type { GatewayRequest } from '../common/gateway-request.ts';
import { FORM_MS, formOf, partsOfForm } from './multipart.ts';

const FILE_ID = /^file-([0-9a-f]{64})$/;

/** The id that clients of this API know a file by. */
export const openAiFileId = (fileId: string): string => `file-${fileId.replace('sha256:', '')}`;

/** Throws NOT_FOUND for what is no id of a file. */
function hashOf(id: string): string {
  const hash = FILE_ID.exec(id)?.[1];
  if (hash === undefined) throw notFound('file');
  return hash;
}

const secondsOf = (time: string): number => Math.floor(Date.parse(time) / 1000);

const fileObject = ({ fileId, size, name, createdAt, expiresAt }: StoredFile) => ({
  id: openAiFileId(fileId),
  object: 'file',
  bytes: size,
  created_at: secondsOf(createdAt),
  expires_at: secondsOf(expiresAt),
  filename: name ?? 'file',
  purpose: 'user_data',
  status: 'processed',
});

/** Most bytes of an upload here: the form is read into memory. Larger files are uploaded with PUT /files. */
const MAX_FORM_BYTES = 16 * 1024 * 1024;

/** Stores the file of a form, while one of few places for long bodies is free. */
export async function createFile(ctx: HttpContext, opened: GatewayRequest) {
  const { c, caller } = opened;
  if (caller.kind === 'anonymous') throw new AppError('UNAUTHORIZED', 'Send "Authorization: Bearer <API key>".');
  requireScope(caller, 'invoke');
  const length = Number(c.req.header('content-length') ?? Number.NaN);
  if (Number.isNaN(length)) throw new AppError('LENGTH_REQUIRED', 'Send the length of the form in Content-Length.');
  if (length > Math.min(MAX_FORM_BYTES, ctx.maxFileBytes + 65_536))
    throw new AppError('PAYLOAD_TOO_LARGE', 'The form is too large. Upload the file with PUT /files/{sha256}.');
  const leave = await ctx.answerRoom.enter(caller.accountId, FORM_MS);
  if (!leave)
    throw new AppError('UNAVAILABLE', 'Too many uploads are running. Nothing was stored; repeat this one later.', {
      details: { outcome: 'nothing' },
    });
  try {
    const parts = partsOfForm(c.req.header('content-type'), await formOf(opened, length));
    const file = parts.find(({ name, filename }) => name === 'file' && filename !== null);
    if (!file) throw invalidFields([{ path: 'file', message: 'is missing' }]);
    const stored = await storeForGateway(ctx, opened, {
      ...{ bytes: file.content, name: file.filename, lifeS: lifeIn(parts) },
      mediaType: readMediaType(file.mediaType) ?? UNKNOWN_TYPE,
    });
    return fileObject(stored);
  } finally {
    leave();
  }
}

function lifeIn(parts: ReturnType<typeof partsOfForm>): number {
  const field = (name: string) => parts.find((part) => part.name === name)?.content.toString('utf8');
  const given = field('expires_after[seconds]');
  if (given === undefined) return fileLife.default;
  const seconds = Number(given);
  if (Number.isInteger(seconds) && seconds >= fileLife.min && seconds <= fileLife.max) return seconds;
  const message = `must be a whole number from ${fileLife.min} to ${fileLife.max}`;
  throw invalidFields([{ path: 'expires_after.seconds', message }]);
}

export async function listFiles(ctx: HttpContext, opened: GatewayRequest) {
  const { after, limit } = opened.c.req.query();
  const last = after === undefined ? null : await positionOf(ctx, opened, after);
  const { data } = await callEndpoint(ctx, opened, 'listFiles', {
    query: { ...(limit === undefined ? {} : { limit }), ...(last === null ? {} : { cursor: last }) },
  });
  const files = data.files.map(fileObject);
  return {
    ...{ object: 'list', data: files, has_more: data.nextCursor !== null },
    ...{ first_id: files[0]?.id ?? null, last_id: files.at(-1)?.id ?? null },
  };
}

async function positionOf(ctx: HttpContext, { caller }: GatewayRequest, after: string): Promise<string> {
  if (caller.kind === 'anonymous') throw new AppError('UNAUTHORIZED', 'Send "Authorization: Bearer <API key>".');
  const { createdAt, blobId } = await requireFile(ctx, caller, hashOf(after));
  return pageCursor({ createdAt, id: blobId });
}

const idOf = ({ c }: GatewayRequest) => ({ fileId: hashOf(c.req.param('id') ?? '') });

export const readFile = async (ctx: HttpContext, opened: GatewayRequest) =>
  fileObject((await callEndpoint(ctx, opened, 'getFile', { params: idOf(opened) })).data);

/** A link to the content, which clients follow. */
export const contentLink = async (ctx: HttpContext, opened: GatewayRequest): Promise<string> =>
  (await callEndpoint(ctx, opened, 'getFile', { params: idOf(opened) })).data.url;

export async function removeFile(ctx: HttpContext, opened: GatewayRequest) {
  const { data } = await callEndpoint(ctx, opened, 'deleteFile', { params: idOf(opened) });
  return { id: openAiFileId(data.fileId), object: 'file', deleted: true };
}

/** Parts of a conversation, in which ids of files of this API are files of the node as well: their agents get links. */
export function withFiles(content: unknown): unknown {
  if (!Array.isArray(content)) return content;
  return content.map((part) => {
    if (!isObject(part)) return part;
    const named = fileNamedIn(part);
    if (named) return { ...part, ...named };
    const inner = isObject(part.file) ? fileNamedIn(part.file) : null;
    return inner ? { ...part, file: { ...(part.file as Json), ...inner } } : part;
  });
}

const fileNamedIn = ({ file_id }: Json): { readonly $file: string } | null => {
  const hash = typeof file_id === 'string' ? FILE_ID.exec(file_id)?.[1] : undefined;
  return hash === undefined ? null : { $file: `sha256:${readFileId(hash).toString('hex')}` };
};
