import { hash } from 'node:crypto';
import type { ResultFile } from '../../files/file.ts';
import { fileIdOf } from '../../files/file-view.ts';
import { type ResultFileContext, type ResultFileOwner, storeResultFile } from '../../files/store-result-file.ts';
import { within } from '../../lib/concurrency/within.ts';
import type { EventMessage } from '../../lib/net/event-parser.ts';
import type { GuardedResponse, Outbound } from '../../lib/net/guarded-fetch.ts';
import { GuardedFetchError } from '../../lib/net/guarded-fetch-error.ts';
import type { GuardedRequest } from '../../lib/net/guarded-fetch-exchange.ts';
import { whileAway } from '../../store/while-away.ts';
import { MAX_RESULT_BYTES } from './agent-answer.ts';
import type { AnswerRoom } from './answer-room.ts';
import { cutMedia, type Medium, MIN_MEDIA_BYTES } from './cut-media.ts';

/** Maximum size of an agent's answer with media; without them it is that of a result. */
export const MAX_MEDIA_ANSWER_BYTES = 16 * 1024 * 1024;
/** Time in which the rest of a long answer arrives. */
const REST_MS = 30_000;
/** Files of a result. Together they are not larger than a file may be. */
export const MAX_FILES = 50;

/** A place for a long answer while it is read. */
export interface AnswerPlace {
  /** Resolves false if none is free in time. Further calls do nothing. */
  enter(): Promise<boolean>;
  /** The pieces; once a place is taken, they throw `timeout` if they do not end soon. */
  timely(pieces: AsyncIterable<Buffer>): AsyncIterable<Buffer>;
  leave(): void;
}

/** Media in the answers to one call: they are stored as they come, and the protocols read JSON without them. */
export interface AnswerMedia {
  /** Sends a request and reads the whole answer, of at most 1 MiB without its media. */
  request(request: Omit<GuardedRequest, 'maxBytes' | 'more'>): Promise<GuardedResponse>;
  place(): AnswerPlace;
  /** A JSON text without its media. Throws GuardedFetchError `too_large`. */
  lighten(body: Buffer): Promise<Buffer>;
  /** Events without the media in their data. */
  lightened(messages: readonly EventMessage[]): Promise<EventMessage[]>;
  /** Everything that was stored for the call, by file id. */
  readonly stored: ReadonlyMap<string, ResultFile>;
  /** Forms in which media came, by file id: a field next to a media type, or null for a data URL. */
  readonly forms: ReadonlyMap<string, string | null>;
  /** Bytes that the files of the result may still have. */
  roomBytes(): number;
  add(file: ResultFile): void;
}

export type AnswerMediaContext = Outbound & ResultFileContext & { readonly answerRoom: AnswerRoom };

export function createAnswerMedia(ctx: AnswerMediaContext, owner: ResultFileOwner, signal: AbortSignal): AnswerMedia {
  const stored = new Map<string, ResultFile>();
  const forms = new Map<string, string | null>();
  const add = (file: ResultFile) => void stored.set(fileIdOf(file.sha256), file);
  const roomBytes = () => ctx.maxFileBytes - [...stored.values()].reduce((sum, { size }) => sum + size, 0);

  /** Stores a medium once: what is polled comes again and again. */
  async function storeMedium({ bytes, mediaType, name, field }: Medium): Promise<ResultFile | null> {
    const known = stored.get(fileIdOf(hash('sha256', bytes, 'buffer')));
    if (known) return known;
    if (bytes.byteLength > roomBytes() || stored.size >= MAX_FILES) throw new GuardedFetchError('too_large');
    const facts = { size: bytes.byteLength, most: bytes.byteLength, mediaType, name, mayExceed: true };
    const file = await whileAway(signal, () => storeResultFile(ctx, owner, { ...facts, pieces: once(bytes) }));
    if (file) {
      add(file);
      forms.set(fileIdOf(file.sha256), field);
    }
    return file;
  }

  async function lighten(body: Buffer): Promise<Buffer> {
    if (body.byteLength <= MIN_MEDIA_BYTES) return body;
    const light = cutMedia(body);
    if (light === null) return body;
    for (const { medium, fill } of light.media) {
      const file = await storeMedium(medium);
      if (file) fill(factsOf(file));
    }
    return Buffer.from(JSON.stringify(light.value));
  }

  const place = () => createPlace(ctx, owner);
  return {
    ...{ stored, forms, add, place, lighten, roomBytes },
    async request(request) {
      const own = place();
      try {
        const more = { maxBytes: MAX_MEDIA_ANSWER_BYTES, enter: own.enter, timeoutMs: REST_MS };
        const answer = await ctx.guardedFetch.request({ ...request, maxBytes: MAX_RESULT_BYTES, more });
        return { ...answer, body: await lighten(answer.body) };
      } finally {
        own.leave();
      }
    },
    async lightened(messages) {
      if (!messages.some(mayHaveMedia)) return [...messages];
      const light: EventMessage[] = [];
      for (const message of messages)
        light.push(
          mayHaveMedia(message)
            ? { ...message, data: (await lighten(Buffer.from(message.data))).toString('utf8') }
            : message,
        );
      return light;
    },
  };
}

/** Events that bring results. Others are shown as they come, and have no files. */
const withResults: ReadonlySet<string | undefined> = new Set([undefined, 'message', 'result']);

const mayHaveMedia = ({ event, data }: EventMessage): boolean =>
  data.length > MIN_MEDIA_BYTES && withResults.has(event);

/** A file as results name it. */
export const factsOf = ({ sha256, mediaType, name, size }: ResultFile) => ({
  $file: fileIdOf(sha256),
  mediaType,
  ...(name === null ? {} : { name }),
  size,
});

async function* once(bytes: Buffer): AsyncGenerator<Buffer> {
  yield bytes;
}

const MAX_WAIT_MS = 10 * 60_000;

function createPlace({ answerRoom }: AnswerMediaContext, { accountId }: ResultFileOwner): AnswerPlace {
  let entering: Promise<(() => void) | null> | undefined;
  let endsAt = Number.POSITIVE_INFINITY;
  return {
    async enter() {
      entering ??= answerRoom.enter(accountId, MAX_WAIT_MS);
      const isIn = (await entering) !== null;
      if (endsAt === Number.POSITIVE_INFINITY) endsAt = performance.now() + REST_MS;
      return isIn;
    },
    async *timely(pieces) {
      const iterator = pieces[Symbol.asyncIterator]();
      try {
        for (;;) {
          const next = iterator.next();
          const leftMs = endsAt - performance.now();
          const got = leftMs === Number.POSITIVE_INFINITY ? await next : await within(next, Math.max(0, leftMs), null);
          if (got === null) throw new GuardedFetchError('timeout');
          if (got.done) return;
          yield got.value;
        }
      } finally {
        void Promise.resolve(iterator.return?.()).catch(() => undefined);
      }
    },
    leave() {
      void entering?.then((leave) => leave?.());
      entering = undefined;
      endsAt = Number.POSITIVE_INFINITY;
    },
  };
}
