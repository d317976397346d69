import type { QueryClient } from '@tanstack/react-query';
import { createRouter, useRouter } from '@tanstack/react-router';
import { Skeleton } from '../ui/layout/skeleton.tsx';
import { ErrorNote } from '../ui/values/error-note.tsx';
import { routeTree } from './routes.tsx';
import { parseSearch, stringifySearch } from './search-params.ts';
import { NotFoundView } from './shell/not-found.tsx';

export const createAppRouter = (queryClient: QueryClient) =>
  createRouter({
    routeTree,
    basepath: '/dashboard',
    context: { queryClient },
    parseSearch,
    stringifySearch,
    defaultPreload: 'intent',
    defaultPreloadStaleTime: 0,
    defaultErrorComponent: ErrorView,
    defaultNotFoundComponent: NotFoundView,
    defaultPendingComponent: PendingView,
    scrollRestoration: true,
  });

declare module '@tanstack/react-router' {
  interface Register {
    router: ReturnType<typeof createAppRouter>;
  }
}

/** Replaces a view that failed. */
function ErrorView({ error }: { error: unknown }) {
  const router = useRouter();
  return (
    <main className="mx-auto max-w-2xl p-6">
      <h1 className="mb-4 text-xl font-semibold tracking-tight">Error</h1>
      <ErrorNote title="Something went wrong on this page" error={error} onRetry={() => void router.invalidate()} />
    </main>
  );
}

const PendingView = () => (
  <div className="space-y-4 p-6">
    <Skeleton className="h-7 w-48" />
    <Skeleton className="h-40 w-full" />
  </div>
);
