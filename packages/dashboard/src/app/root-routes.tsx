import type { QueryClient } from '@tanstack/react-query';
import { createRootRouteWithContext, createRoute, redirect } from '@tanstack/react-router';
import { sessionQuery } from './session.ts';
import { Shell } from './shell/shell.tsx';

export const rootRoute = createRootRouteWithContext<{ queryClient: QueryClient }>()({});

/** Around every view that is for people who are signed in. The others are sent to sign in, and back to where they wanted to go. */
export const shellRoute = createRoute({
  getParentRoute: () => rootRoute,
  id: 'shell',
  component: Shell,
  async beforeLoad({ context, location }) {
    const { session } = await context.queryClient.ensureQueryData(sessionQuery);
    if (!session) throw redirect({ to: '/sign-in', search: { to: location.href } });
  },
});
