import type { Home } from '../../agents/agent.ts';
import type { ResultFile } from '../../files/file.ts';
import { nameOf, readMediaType, safeName, UNKNOWN_TYPE } from '../../files/file-facts.ts';
import { fileRefsOf, isFileRef } from '../../files/file-refs.ts';
import { giveUp } from '../../files/receive-file.ts';
import { type ResultFileOwner, storeResultFile } from '../../files/store-result-file.ts';
import { AppError } from '../../lib/app-error.ts';
import { HOUR_MS } from '../../lib/duration.ts';
import { isObject, type Json, parseObject } from '../../lib/json/json-object.ts';
import { GuardedFetchError } from '../../lib/net/guarded-fetch-error.ts';
import type { GuardedStream } from '../../lib/net/guarded-fetch-stream.ts';
import type { Retention } from '../../lib/retention.ts';
import type { Store } from '../../store/database.ts';
import { whileAway } from '../../store/while-away.ts';
import type { Invocation, Outcome } from '../invocation.ts';
import {
  type AnswerMedia,
  type AnswerMediaContext,
  createAnswerMedia,
  factsOf,
  MAX_FILES,
} from '../protocols/answer-media.ts';
import { askHome, type HomeContext } from '../remote/home-client.ts';

export type AcceptFilesContext = AnswerMediaContext & Store & HomeContext & { readonly retention: Retention };

/** Time after the deadline in which a result is stored, whatever holds it up. */
const MORE_MS = 25 * HOUR_MS;
const DAY_MS = 24 * HOUR_MS;

/** The media of the answers to a request. */
export const mediaOf = (ctx: AcceptFilesContext, invocation: Invocation, signal: AbortSignal): AnswerMedia =>
  createAnswerMedia(ctx, ownerOf(ctx, invocation), signal);

function ownerOf({ clock, retention }: AcceptFilesContext, invocation: Invocation): ResultFileOwner {
  const { id, accountId, callerAgentId, deadline } = invocation;
  const endMs = Math.max(deadline.getTime(), clock.now().getTime());
  return {
    ...{ requestId: id, accountId, ownerId: callerAgentId ?? accountId },
    dueAt: new Date(endMs + MORE_MS),
    expiresAt: new Date(endMs + retention.resultDays * DAY_MS),
  };
}

interface Accepting {
  readonly invocation: Invocation;
  readonly media: AnswerMedia;
  readonly signal: AbortSignal;
  /** null: an agent of this node. */
  readonly home: Home | null;
}

type Completed = Extract<Outcome, { kind: 'completed' }>;

/**
 * Takes the files of a result in: contents at addresses are fetched once, within the file limit and the time left; where that fails, the
 * address stays, marked as external. Nothing of it is the caller's before the request ends.
 */
export async function acceptFiles(
  ctx: AcceptFilesContext,
  accepting: Accepting,
  outcome: Completed,
): Promise<Completed> {
  const given =
    accepting.home === null ? outcome.result : await linkedAtHome(ctx, accepting, accepting.home, outcome.result);
  const result = await withFetched(ctx, accepting, given);
  const { stored } = accepting.media;
  const files = fileRefsOf(result).flatMap((id) => stored.get(id) ?? []);
  return files.length === 0 && result === outcome.result ? outcome : { ...outcome, result, files };
}

/** A result in the form in which its agent gave it, with empty media, for types that declare texts. */
export const asGiven = ({ forms }: AnswerMedia, result: unknown): unknown =>
  replaceIn(result, (value) => {
    if (!isFileRef(value)) return undefined;
    const { $file, size, ...rest } = value;
    const field = forms.get($file);
    if (field === undefined) return undefined;
    return field === null ? `data:${rest.mediaType};base64,` : { ...rest, [field]: '' };
  });

/** Contents that are no files of the caller after all leave; the next removal would come by as well. */
export async function giveUpFiles(ctx: AcceptFilesContext, { stored }: AnswerMedia): Promise<void> {
  for (const { blobId } of stored.values()) await giveUp(ctx, blobId);
}

/** `{"$file": {"url": "…"}}` in a result. */
const addressIn = (value: Json): string | null =>
  isObject(value.$file) && typeof value.$file.url === 'string' ? value.$file.url : null;

async function withFetched(ctx: AcceptFilesContext, accepting: Accepting, result: unknown): Promise<unknown> {
  const urls = new Set<string>();
  replaceIn(result, (value) => {
    const url = addressIn(value);
    if (url !== null) urls.add(url);
    return undefined;
  });
  if (urls.size === 0) return result;
  const files = new Map<string, ResultFile | null>();
  for (const url of urls) files.set(url, await fetchOrNull(ctx, accepting, url));
  return replaceIn(result, (value) => {
    const url = addressIn(value);
    if (url === null) return undefined;
    const file = files.get(url);
    return file ? { ...value, ...factsOf(file) } : { ...value, $file: { url, external: true } };
  });
}

/** Replaces objects in a JSON value, from the outside in; undefined: keeps the object, and looks into it. */
function replaceIn(value: unknown, replace: (value: Json) => unknown): unknown {
  if (Array.isArray(value)) return value.map((each) => replaceIn(each, replace));
  if (!isObject(value)) return value;
  const replaced = replace(value);
  if (replaced !== undefined) return replaced;
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, replaceIn(each, replace)]));
}

/** Time that is left for the end of the request. */
const LAST_MS = 1000;
const IDLE_MS = 30_000;
const MOST_MS = 5 * 60_000;
/** Limit of a file without Content-Length. */
const MAX_UNTOLD = 16 * 1024 * 1024;

async function fetchOrNull(ctx: AcceptFilesContext, accepting: Accepting, url: string): Promise<ResultFile | null> {
  const { invocation, media, signal } = accepting;
  const leftMs = Math.min(MOST_MS, invocation.deadline.getTime() - ctx.clock.now().getTime() - LAST_MS);
  const most = media.roomBytes();
  if (leftMs <= 0 || most <= 0 || media.stored.size >= MAX_FILES || signal.aborted) return null;
  try {
    const stream = await ctx.guardedFetch.stream({
      ...{ url, method: 'GET', headers: { accept: '*/*' }, signal },
      ...{ timeoutMs: leftMs, idleTimeoutMs: Math.min(IDLE_MS, leftMs), maxBytes: most },
    });
    const file = await whileAway(signal, () => keep(ctx, accepting, stream, url)).finally(stream.cancel);
    if (file) media.add(file);
    return file;
  } catch (error) {
    if (error instanceof GuardedFetchError || error instanceof AppError) return null;
    throw error;
  }
}

async function keep(
  ctx: AcceptFilesContext,
  { invocation, media }: Accepting,
  { status, headers, body }: GuardedStream,
  url: string,
): Promise<ResultFile | null> {
  if (status !== 200) return null;
  const header = (name: string) => [headers[name]].flat()[0];
  const length = Number(header('content-length') ?? Number.NaN);
  const size = Number.isSafeInteger(length) && length >= 0 ? length : null;
  return storeResultFile(ctx, ownerOf(ctx, invocation), {
    ...{ pieces: body, size, most: Math.min(MAX_UNTOLD, media.roomBytes()), mayExceed: false },
    mediaType: readMediaType(header('content-type')) ?? UNKNOWN_TYPE,
    name: nameOf(header('content-disposition')) ?? lastOf(url),
  });
}

/** The file name at the end of an address; null: none. */
function lastOf(url: string): string | null {
  const last = URL.parse(url)?.pathname.split('/').at(-1) ?? '';
  return /\.\w{1,8}$/.test(last) ? safeName(last) : null;
}

const HOME_TIMEOUT_MS = 10_000;

/** A result of another node, with links to its files there, which only this node's account can read. */
async function linkedAtHome(
  ctx: AcceptFilesContext,
  { signal }: Accepting,
  home: Home,
  result: unknown,
): Promise<unknown> {
  const urls = new Map<string, string>();
  for (const id of fileRefsOf(result).slice(0, MAX_FILES)) {
    const path = `/files/${id.replace('sha256:', '')}`;
    const answer = await askHome(ctx, home, { method: 'GET', path, timeoutMs: HOME_TIMEOUT_MS, signal }).catch(
      () => null,
    );
    const data = answer?.status === 200 ? parseObject(answer.body.toString('utf8'))?.data : null;
    if (isObject(data) && typeof data.url === 'string') urls.set(id, data.url);
  }
  if (urls.size === 0) return result;
  return replaceIn(result, (value) => {
    const url = isFileRef(value) ? urls.get(value.$file) : undefined;
    return url === undefined ? undefined : { ...value, $file: { url } };
  });
}
