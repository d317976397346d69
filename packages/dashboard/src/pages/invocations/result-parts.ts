/** The readable parts of a result. */
export interface ResultParts {
  /** null: the result has no text of its own. */
  readonly text: string | null;
  /** `data:` addresses of pictures. */
  readonly images: readonly string[];
}

const MAX_IMAGES = 8;
const MAX_IMAGE_CHARS = 2_000_000;
const MAX_VALUES = 200;
const MAX_LEVELS = 4;

/** Fields with the text of a result, the first one counts. */
const textFields = ['text', 'markdown', 'answer', 'output', 'summary', 'message', 'content', 'result'] as const;

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const IMAGE_TYPE = /^image\/(?:png|jpeg|gif|webp)$/;
const BASE64 = /^[A-Za-z0-9+/]+={0,2}$/;

/** The address of a picture that a browser draws without running anything; null: the text is none. */
function imageAddress(text: string): string | null {
  if (text.length > MAX_IMAGE_CHARS || !text.startsWith('data:image/')) return null;
  const [head = '', data = ''] = text.split(',', 2);
  const type = head.slice('data:'.length).replace(/;base64$/, '');
  return head.endsWith(';base64') && IMAGE_TYPE.test(type) && BASE64.test(data) ? text : null;
}

/** A picture as MCP and file parts have it: data beside its type. */
function imagePart(value: Record<string, unknown>): string | null {
  const type = value.mimeType ?? value.mime_type;
  return typeof type === 'string' && typeof value.data === 'string'
    ? imageAddress(`data:${type};base64,${value.data}`)
    : null;
}

/** The values in a value, from the outside in; a part of a very large one is looked at. */
function* valuesIn(root: unknown): Generator<unknown> {
  let level = [root];
  let left = MAX_VALUES;
  for (let depth = 0; depth < MAX_LEVELS && level.length > 0; depth++) {
    const looked = level.slice(0, left);
    left -= looked.length;
    yield* looked;
    level = looked.flatMap((value) => (typeof value === 'object' && value !== null ? Object.values(value) : []));
  }
}

/** The pictures of a value, in order. */
const imagesIn = (root: unknown): readonly string[] =>
  [...valuesIn(root)]
    .flatMap(
      (value) => (typeof value === 'string' ? imageAddress(value) : isObject(value) ? imagePart(value) : null) ?? [],
    )
    .slice(0, MAX_IMAGES);

/** A file that the node has stored for the call. */
export interface ResultFile {
  readonly fileId: string;
  readonly name: string;
  readonly mediaType: string;
  /** Bytes; null: the result does not say. */
  readonly size: number | null;
}

/** The stored files that a result refers to, each once. */
export function filesOf(result: unknown): readonly ResultFile[] {
  const files = new Map<string, ResultFile>();
  for (const value of valuesIn(result)) {
    if (!isObject(value) || typeof value.$file !== 'string' || !/^sha256:[0-9a-f]{64}$/.test(value.$file)) continue;
    const { $file, name, mediaType, size } = value;
    files.set($file, {
      fileId: $file,
      name: typeof name === 'string' && name !== '' ? name : 'file',
      mediaType: typeof mediaType === 'string' ? mediaType : 'application/octet-stream',
      size: typeof size === 'number' ? size : null,
    });
  }
  return [...files.values()];
}

/** Finds the text and the pictures of a result, whatever its form. Texts of fields stay as they are. */
export function partsOf(result: unknown): ResultParts {
  const images = imagesIn(result);
  if (typeof result === 'string') return { text: images.length > 0 ? null : result, images };
  if (!isObject(result)) return { text: null, images };
  const name = textFields.find((field) => typeof result[field] === 'string' && imageAddress(result[field]) === null);
  return { text: name === undefined ? null : String(result[name]), images };
}
