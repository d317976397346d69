import { ErrorNote } from '../values/error-note.tsx';
import { Skeleton } from './skeleton.tsx';

interface WaitingProps {
  readonly error: unknown;
  readonly onRetry: () => void;
  readonly height?: string;
}

/** Placeholder while data loads, or the error that loading ended with. */
export const Waiting = ({ error, onRetry, height = 'h-64' }: WaitingProps) =>
  error ? <ErrorNote error={error} onRetry={onRetry} /> : <Skeleton className={`${height} w-full`} />;
