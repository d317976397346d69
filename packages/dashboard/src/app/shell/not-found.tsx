import { Link } from '@tanstack/react-router';
import { EmptyState } from '../../ui/layout/empty-state.tsx';
import { Page } from '../../ui/layout/page.tsx';
import { linkClass } from '../../ui/values/link.tsx';

/** Shown at addresses without a view. */
export const NotFoundView = () => (
  <Page title="Page not found">
    <EmptyState title="There is no page at this address">
      Check the address, or{' '}
      <Link to="/" className={`${linkClass} underline`}>
        go to the overview
      </Link>
      .
    </EmptyState>
  </Page>
);
