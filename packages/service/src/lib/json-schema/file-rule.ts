import { isObject } from '../json/json-object.ts';

/** Facts about the files that a value refers to, by their ids. */
export type FileFacts = Readonly<Record<string, { readonly mediaType: string; readonly size: number }>>;

export const FILE_KEYWORD = 'x-file';

export interface FileRule {
  /** Types such as `image/png` and `image/*`. */
  readonly mediaTypes?: readonly string[];
  readonly maxBytes?: number;
}

const MAX_TYPES = 32;
const TYPE = /^[a-z0-9][\w!#$&^.+-]{0,63}\/(\*|[a-z0-9][\w!#$&^.+-]{0,63})$/;

/** The fault of a rule, as a schema has it; null: none. */
export function faultOfFileRule(rule: unknown): string | null {
  if (!isObject(rule) || Object.keys(rule).some((name) => name !== 'mediaTypes' && name !== 'maxBytes'))
    return 'must be an object of mediaTypes and maxBytes';
  const { mediaTypes = ['a/*'], maxBytes = 1 } = rule;
  const areTypes =
    Array.isArray(mediaTypes) &&
    mediaTypes.length > 0 &&
    mediaTypes.length <= MAX_TYPES &&
    mediaTypes.every((type) => typeof type === 'string' && TYPE.test(type));
  if (!areTypes) return `must have as mediaTypes 1 to ${MAX_TYPES} types such as "image/png" and "image/*"`;
  return Number.isSafeInteger(maxBytes) && Number(maxBytes) > 0 ? null : 'must have as maxBytes a whole number above 0';
}

export const fitsFileRule = (
  { mediaTypes, maxBytes = Number.POSITIVE_INFINITY }: FileRule,
  file: FileFacts[string],
): boolean =>
  file.size <= maxBytes &&
  (mediaTypes === undefined ||
    mediaTypes.some((type) =>
      type.endsWith('/*') ? file.mediaType.startsWith(type.slice(0, -1)) : file.mediaType === type,
    ));

/** The rule in words. */
export function fileRuleText(rule: unknown): string {
  const { mediaTypes, maxBytes } = rule as FileRule;
  const types = mediaTypes ? ` of type ${mediaTypes.join(' or ')}` : '';
  return `must be a file${types}${maxBytes === undefined ? '' : ` of at most ${maxBytes} bytes`}`;
}
