import { Link } from '@tanstack/react-router';
import { EmptyState } from '../ui/layout/empty-state.tsx';
import { linkClass } from '../ui/values/link.tsx';

export function NotFoundView() {
  return (
    <main className="mx-auto max-w-2xl p-6">
      <EmptyState title="There is no such page">
        <Link to="/" className={linkClass}>
          Go to the start
        </Link>
      </EmptyState>
    </main>
  );
}
