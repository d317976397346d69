/** Holds the place of what is being loaded. */
export const Skeleton = ({ className = 'h-4 w-24' }: { className?: string }) => (
  <div aria-hidden="true" className={`animate-pulse rounded bg-line ${className}`} />
);
