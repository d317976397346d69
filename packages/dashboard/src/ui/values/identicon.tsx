/** FNV-1a: the same id, the same picture, on every machine. */
function hashOf(text: string): number {
  let hash = 0x811c9dc5;
  for (const char of text) hash = Math.imul(hash ^ (char.codePointAt(0) ?? 0), 0x01000193) >>> 0;
  return hash;
}

const CELLS = [0, 1, 2, 3, 4];

/** A picture made of an id, in place of an avatar from a host that we do not know. */
export function Identicon({ id, className = 'size-8' }: { id: string; className?: string }) {
  const [shape, hue] = [hashOf(id), hashOf(`${id}~`) % 360];
  const isSet = (x: number, y: number) => ((shape >>> (y * 3 + (x > 2 ? 4 - x : x))) & 1) === 1;
  return (
    <svg viewBox="0 0 7 7" aria-hidden="true" className={`shrink-0 rounded-md ${className}`}>
      <rect width="7" height="7" fill={`hsl(${hue} 50% 50% / 0.16)`} />
      {CELLS.flatMap((y) =>
        CELLS.filter((x) => isSet(x, y)).map((x) => (
          <rect key={`${x}${y}`} x={x + 1} y={y + 1} width="1" height="1" fill={`hsl(${hue} 55% 52%)`} />
        )),
      )}
    </svg>
  );
}
