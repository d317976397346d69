/** Placeholder for loading content. */
export const Skeleton = ({ className = 'h-4 w-24' }: { className?: string }) => (
  <div aria-hidden="true" className={`animate-pulse rounded bg-line ${className}`} />
);
