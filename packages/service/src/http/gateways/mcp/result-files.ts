import type { CallToolResult, InputRequiredResult } from '@modelcontextprotocol/server';
import { readFileId } from '../../../files/file-view.ts';
import { openContent } from '../../../files/read-file.ts';
import { requireResultFile } from '../../../files/store-result-file.ts';
import { AppError } from '../../../lib/app-error.ts';
import type { HttpContext } from '../../request/http-context.ts';
import { type ShownFile, shownFilesOf } from '../common/gateway-files.ts';

/** Images up to this size are in the result itself: hosts show those to their models. */
const MAX_IMAGE_BYTES = 256 * 1024;
const MAX_IMAGES = 4;
const images: ReadonlySet<string> = new Set(['image/png', 'image/jpeg', 'image/webp', 'image/gif']);

type Content = CallToolResult['content'][number];

/** A result of a tool with links to the files of the record that it is, and with its small images; any other result as it is. */
export async function withResultFiles<R extends CallToolResult | InputRequiredResult>(
  ctx: HttpContext,
  result: R,
): Promise<R> {
  const record = recordIn(result);
  const files = record ? shownFilesOf(ctx, record) : [];
  if (!record || files.length === 0) return result;
  const shown: Content[] = [];
  for (const file of files) {
    const image = shown.length < MAX_IMAGES ? await imageOf(ctx, record.requestId, file) : null;
    if (image) shown.push(image);
  }
  return { ...result, content: [...(result as CallToolResult).content, ...files.map(linkTo), ...shown] };
}

/** A completed request; null: the result is something else. */
function recordIn({ structuredContent }: CallToolResult | InputRequiredResult) {
  const { requestId, status, result } = (structuredContent ?? {}) as Readonly<Record<string, unknown>>;
  return typeof requestId === 'string' && status === 'completed' ? { requestId, status, result } : null;
}

const linkTo = ({ url, name, mediaType, size }: ShownFile): Content => ({
  ...{ type: 'resource_link', uri: url, name: name ?? 'file' },
  ...(mediaType === null ? {} : { mimeType: mediaType }),
  ...(size === null ? {} : { size }),
});

async function imageOf(ctx: HttpContext, requestId: string, { fileId }: ShownFile): Promise<Content | null> {
  if (fileId === null) return null;
  try {
    const file = await requireResultFile(ctx.db, requestId, readFileId(fileId));
    if (file.size > MAX_IMAGE_BYTES || !images.has(file.mediaType)) return null;
    const pieces = await Array.fromAsync(await openContent(ctx, file, { from: 0, before: file.size }));
    return { type: 'image', data: Buffer.concat(pieces).toString('base64'), mimeType: file.mediaType };
  } catch (error) {
    // It was deleted, or its store is away: there is the link.
    if (error instanceof AppError) return null;
    throw error;
  }
}
