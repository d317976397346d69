import { nameOf } from '../../../files/file-facts.ts';
import { AppError, invalidFields } from '../../../lib/app-error.ts';
import { createBytePieces } from '../../../lib/byte-pieces.ts';
import { within } from '../../../lib/concurrency/within.ts';
import type { GatewayRequest } from '../common/gateway-request.ts';

/** Time in which a form arrives. */
export const FORM_MS = 60_000;

/** A part of a form: a field, or a file. */
interface FormPart {
  readonly name: string;
  /** null: it is a field. */
  readonly filename: string | null;
  readonly mediaType: string | undefined;
  readonly content: Buffer;
}

const MAX_PARTS = 16;
const MAX_HEAD_BYTES = 4096;

const malformed = (message: string) => invalidFields([{ path: 'body', message }]);

/** The parts of a form (RFC 7578) in memory. Throws VALIDATION_ERROR for what is none, or has too many. */
export function partsOfForm(contentType: string | undefined, body: Buffer): FormPart[] {
  const given = /^multipart\/form-data\s*;.*?\bboundary=(?:"([^"]{1,70})"|([^\s;"]{1,70}))/i.exec(contentType ?? '');
  const boundary = given?.[1] ?? given?.[2];
  if (boundary === undefined) throw malformed('must be multipart/form-data with a boundary');
  const mark = Buffer.from(`--${boundary}`, 'latin1');
  if (!body.subarray(0, mark.byteLength).equals(mark)) throw malformed('does not begin with its boundary');
  const between = Buffer.from(`\r\n--${boundary}`, 'latin1');
  const parts: FormPart[] = [];
  for (let at = mark.byteLength; body.toString('latin1', at, at + 2) !== '--'; ) {
    if (parts.length >= MAX_PARTS) throw malformed(`has more than ${MAX_PARTS} parts`);
    const end = body.indexOf(between, at);
    if (end < 0) throw malformed('ends before its last boundary');
    parts.push(partOf(body.subarray(at, end)));
    at = end + between.byteLength;
  }
  return parts;
}

function partOf(bytes: Buffer): FormPart {
  const headEnd = bytes.subarray(0, MAX_HEAD_BYTES).indexOf('\r\n\r\n');
  if (headEnd < 0) throw malformed('has a part without headers');
  const lines = bytes.toString('utf8', 0, headEnd).split('\r\n');
  const header = (name: string) =>
    lines
      .find((line) => line.toLowerCase().startsWith(`${name}:`))
      ?.slice(name.length + 1)
      .trim();
  const disposition = header('content-disposition') ?? '';
  const name = /;\s*name="([^"]*)"/i.exec(disposition)?.[1];
  if (name === undefined) throw malformed('has a part without a name');
  const isFile = /;\s*filename\*?=/i.test(disposition);
  return {
    name,
    filename: isFile ? (nameOf(disposition) ?? 'file') : null,
    mediaType: header('content-type'),
    content: bytes.subarray(headEnd + 4),
  };
}

/** Reads a form of a known length. Throws VALIDATION_ERROR for one that is longer, cut off or too slow. */
export async function formOf({ c }: GatewayRequest, length: number): Promise<Buffer> {
  const endMs = performance.now() + FORM_MS;
  const pieces = createBytePieces();
  const cutOff = () => invalidFields([{ path: 'body', message: 'did not arrive whole and in time' }]);
  const reader = c.req.raw.body?.getReader();
  try {
    while (reader) {
      const read = await within(reader.read(), Math.max(0, endMs - performance.now()), null);
      if (read === null) throw cutOff();
      if (read.done) break;
      pieces.add(read.value);
      if (pieces.byteLength > length) throw cutOff();
    }
  } catch (error) {
    throw error instanceof AppError ? error : cutOff();
  } finally {
    void reader?.cancel().catch(() => undefined);
  }
  if (pieces.byteLength < length) throw cutOff();
  return pieces.take();
}
