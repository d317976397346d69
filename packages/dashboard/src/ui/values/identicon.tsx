import { identiconOf } from '@agent-network/contracts/identicon';

/** The picture of an id. */
export function Identicon({ id, className = 'size-8' }: { id: string; className?: string }) {
  const { hue, cells } = identiconOf(id);
  return (
    <svg viewBox="0 0 7 7" aria-hidden="true" className={`shrink-0 rounded-md ${className}`}>
      <rect width="7" height="7" fill={`hsl(${hue} 50% 50% / 0.16)`} />
      {cells.map(({ x, y }) => (
        <rect key={`${x}${y}`} x={x + 1} y={y + 1} width="1" height="1" fill={`hsl(${hue} 55% 52%)`} />
      ))}
    </svg>
  );
}
