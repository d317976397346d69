import { AppError, invalid } from '../lib/app-error.ts';
import { isObject, type Json } from '../lib/json/json-object.ts';
import type { FileServices } from './file-services.ts';
import { findFiles, keepFiles } from './file-store.ts';
import { fileIdOf, linkOf, readFileId } from './file-view.ts';

const FILE_ID = /^sha256:[0-9a-f]{64}$/;
const MAX_REFS = 50;
/** Time for which a link is valid after the deadline of its request. */
const MORE_MS = 3_600_000;

/** `{"$file": "sha256:…"}`, anywhere in a JSON value. One with a `url` of its own is left as it is. */
type FileRef = Readonly<Record<string, unknown>> & { readonly $file: string };

export const isFileRef = (value: object): value is FileRef =>
  '$file' in value && typeof value.$file === 'string' && FILE_ID.test(value.$file) && !('url' in value);

/** Ids of the files that a JSON value refers to, each once. */
export const fileRefsOf = (value: unknown): string[] => [
  ...new Set(objectsIn(value, (each) => isFileRef(each)).map(({ $file }) => $file as string)),
];

/** Objects in a JSON value that fit, from the outside in, without what is in them. */
function objectsIn(value: unknown, fits: (value: Json) => boolean): Json[] {
  const found: Json[] = [];
  const walk = (each: unknown): void => {
    if (isObject(each) && fits(each)) found.push(each);
    else if (typeof each === 'object' && each !== null) for (const inner of Object.values(each)) walk(inner);
  };
  walk(value);
  return found;
}

/** A file of a result: one of the node, or one at an address that the node could not fetch. */
export interface ResultFileRef {
  readonly fileId: string | null;
  readonly url: string | null;
  readonly mediaType: string | null;
  readonly name: string | null;
  readonly size: number | null;
}

/** The files that a result names, at most fifty, each once. */
export function resultFilesIn(result: unknown): ResultFileRef[] {
  const named = objectsIn(result, (each) => isFileRef(each) || isExternal(each)).map((each): ResultFileRef => {
    const { $file, mediaType, name, size } = each;
    const text = (value: unknown) => (typeof value === 'string' ? value : null);
    return {
      ...(typeof $file === 'string' ? { fileId: $file, url: null } : { fileId: null, url: ($file as FileAddress).url }),
      ...{ mediaType: text(mediaType), name: text(name), size: typeof size === 'number' ? size : null },
    };
  });
  return [...new Map(named.map((file) => [file.fileId ?? file.url, file])).values()].slice(0, MAX_REFS);
}

interface FileAddress {
  readonly url: string;
}

const isExternal = ({ $file }: Json): boolean =>
  isObject($file) && $file.external === true && typeof $file.url === 'string';

interface Use {
  /** Owner of the files. */
  readonly ownerId: string;
  readonly deadline: Date;
}

/**
 * Keeps the files that an input refers to until an hour after the deadline of its request. Throws FILE_NOT_FOUND when the owner lacks one,
 * whoever else has it. Without references it asks nothing.
 */
export async function requireFiles(
  { db }: Pick<FileServices, 'db'>,
  input: unknown,
  { ownerId, deadline }: Use,
): Promise<void> {
  const ids = fileRefsOf(input);
  if (ids.length === 0) return;
  if (ids.length > MAX_REFS) throw invalid('input', `refers to more than ${MAX_REFS} files`);
  const until = new Date(deadline.getTime() + MORE_MS);
  const kept = new Set((await keepFiles(db, ownerId, ids.map(readFileId), until)).map(fileIdOf));
  const missing = ids.find((id) => !kept.has(id));
  if (missing === undefined) return;
  throw new AppError('FILE_NOT_FOUND', `The account has no file ${missing}. Upload it first; nothing was charged.`);
}

/** Type and size of the files of an owner that a value refers to, by their ids. Without references it asks nothing. */
export async function fileFacts(
  { db }: Pick<FileServices, 'db'>,
  ownerId: string,
  value: unknown,
): Promise<Record<string, { mediaType: string; size: number }>> {
  const ids = fileRefsOf(value).slice(0, MAX_REFS);
  const files = ids.length === 0 ? [] : await findFiles(db, ownerId, ids.map(readFileId));
  return Object.fromEntries(files.map(({ sha256, mediaType, size }) => [fileIdOf(sha256), { mediaType, size }]));
}

/** Throws VALIDATION_ERROR for an input with files: nodes do not hand them on to each other. */
export function requireNoFiles(input: unknown): void {
  if (fileRefsOf(input).length > 0)
    throw invalid('input', 'refers to a file, which agents of other nodes cannot read: send a "url" that they can');
}

interface LinkedUse extends Use {
  readonly requestId: string;
}

/** An input as its agent gets it: each file with its size, type and name, and a link to its content. */
export async function withFileLinks<T>(
  ctx: Pick<FileServices, 'db' | 'secrets' | 'filesBaseUrl'>,
  input: T,
  { ownerId, requestId, deadline }: LinkedUse,
): Promise<T> {
  const ids = fileRefsOf(input);
  if (ids.length === 0) return input;
  const exp = Math.ceil((deadline.getTime() + MORE_MS) / 1000);
  const files = await findFiles(ctx.db, ownerId, ids.slice(0, MAX_REFS).map(readFileId));
  const facts = new Map(
    files.map(({ sha256, blobId, size, mediaType, name }) => {
      const url = linkOf(ctx, { sha256, upload: blobId, request: requestId, exp });
      return [fileIdOf(sha256), { mediaType, ...(name === null ? {} : { name }), size, url }];
    }),
  );
  const linked = (value: unknown): unknown => {
    if (typeof value !== 'object' || value === null) return value;
    if (Array.isArray(value)) return value.map(linked);
    if (isFileRef(value)) return { ...value, ...facts.get(value.$file) };
    return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, linked(inner)]));
  };
  return linked(input) as T;
}
