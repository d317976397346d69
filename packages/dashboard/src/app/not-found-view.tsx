import { Link } from '@tanstack/react-router';
import { EmptyState } from '../ui/layout/empty-state.tsx';
import { linkClass } from '../ui/values/link.tsx';

export function NotFoundView() {
  return (
    <main className="mx-auto max-w-2xl p-6">
      <h1 className="sr-only">Page not found</h1>
      <EmptyState title="Nothing is at this address">
        <Link to="/" className={linkClass}>
          Go to the overview
        </Link>
      </EmptyState>
    </main>
  );
}
