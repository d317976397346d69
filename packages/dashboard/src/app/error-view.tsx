import { useRouter } from '@tanstack/react-router';
import { ErrorNote } from '../ui/values/error-note.tsx';

/** In place of a view that failed. */
export function ErrorView({ error }: { error: unknown }) {
  const router = useRouter();
  return (
    <main className="mx-auto max-w-2xl p-6">
      <h1 className="mb-4 text-xl font-semibold tracking-tight">Error</h1>
      <ErrorNote title="Something went wrong on this page" error={error} onRetry={() => void router.invalidate()} />
    </main>
  );
}
