/** FNV-1a: the same id, the same picture, on every machine. */
function hashOf(text: string): number {
  let hash = 0x811c9dc5;
  for (const char of text) hash = Math.imul(hash ^ (char.codePointAt(0) ?? 0), 0x01000193) >>> 0;
  return hash;
}

const SIDE = [0, 1, 2, 3, 4];

export interface Identicon {
  /** Degrees of the colour wheel. */
  readonly hue: number;
  /** The cells that are drawn, of five by five; the right half mirrors the left. */
  readonly cells: readonly { readonly x: number; readonly y: number }[];
}

/** A picture made of an id, in place of an avatar from a host that we do not know. */
export function identiconOf(id: string): Identicon {
  const [shape, hue] = [hashOf(id), hashOf(`${id}~`) % 360];
  const isSet = (x: number, y: number) => ((shape >>> (y * 3 + (x > 2 ? 4 - x : x))) & 1) === 1;
  return { hue, cells: SIDE.flatMap((y) => SIDE.filter((x) => isSet(x, y)).map((x) => ({ x, y }))) };
}
