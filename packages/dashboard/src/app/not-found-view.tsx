import { Link } from '@tanstack/react-router';
import { EmptyState } from '../ui/layout/empty-state.tsx';
import { linkClass } from '../ui/values/link.tsx';

export function NotFoundView() {
  return (
    <main className="mx-auto max-w-2xl p-6">
      <EmptyState title="Page not found">
        <Link to="/" className={linkClass}>
          Go to the overview
        </Link>
      </EmptyState>
    </main>
  );
}
