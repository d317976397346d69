import type { FileDetail, StoredFile } from '@agent-network/contracts/files/files';
import { notFound } from '../lib/app-error.ts';
import type { Clock } from '../lib/clock.ts';
import type { Secrets } from '../lib/secrets.ts';
import type { FileRow } from './file.ts';

export const fileIdOf = (sha256: Buffer): string => `sha256:${sha256.toString('hex')}`;

/** Reads an id, with or without its `sha256:`. Throws NOT_FOUND for what cannot be one. */
export function readFileId(id: string): Buffer {
  const hex = /^(?:sha256:)?([0-9a-f]{64})$/.exec(id)?.[1];
  if (hex === undefined) throw notFound('file');
  return Buffer.from(hex, 'hex');
}

export const fileView = (row: FileRow | Omit<FileRow, 'ownerId'>): StoredFile => ({
  fileId: fileIdOf(row.sha256),
  size: row.size,
  mediaType: row.mediaType,
  name: row.name,
  createdAt: row.createdAt.toISOString(),
  expiresAt: row.expiresAt.toISOString(),
});

const LINK_S = 3600;
/** Purpose of a link's signature. The method is part of it, as a link only reads. */
const PURPOSE = 'file link';

interface Linked {
  readonly sha256: Buffer;
  /** The upload that the file came by; absent: it is a file of the result of the request. */
  readonly upload?: string | undefined;
  /** The request that the link is for; absent: none. */
  readonly request?: string | undefined;
  readonly exp: number;
}

const signedParts = ({ sha256, upload = '', request = '', exp }: Linked): string[] => [
  ...['GET', sha256.toString('hex'), upload, request],
  String(exp),
];

interface LinkContext {
  readonly secrets: Secrets;
  readonly filesBaseUrl: string;
}

/** Link to a content, without a key. */
export function linkOf({ secrets, filesBaseUrl }: LinkContext, link: Linked): string {
  const sig = secrets.authenticate(PURPOSE, signedParts(link));
  const { request, upload, exp, sha256 } = link;
  const named = { ...(request ? { request } : {}), ...(upload ? { upload } : {}) };
  const query = new URLSearchParams({ ...named, exp: String(exp), sig });
  return `${filesBaseUrl}/files/${sha256.toString('hex')}/content?${query}`;
}

/** A file with a link to its content that is valid for an hour. */
export function detailView(ctx: LinkContext, row: FileRow, now: Date): FileDetail {
  const exp = Math.floor(now.getTime() / 1000) + LINK_S;
  return { ...fileView(row), url: linkOf(ctx, { sha256: row.sha256, upload: row.blobId, exp }) };
}

/** Link to a file of the result of a request, for whoever the result is shown to. It is valid for an hour. */
export const resultLinkOf = (ctx: LinkContext & { readonly clock: Clock }, request: string, fileId: string): string =>
  linkOf(ctx, { sha256: readFileId(fileId), request, exp: Math.floor(ctx.clock.now().getTime() / 1000) + LINK_S });

/** True for a link that this node signed and that has not ended. */
export const isValidLink = (
  { secrets }: LinkContext,
  { sig, ...link }: Linked & { readonly sig: string },
  now: Date,
): boolean => secrets.isAuthentic(PURPOSE, signedParts(link), sig) && link.exp * 1000 > now.getTime();
