import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { rootRoute, shellRoute } from './root-routes.tsx';
import { searchOf } from './search-params.ts';

/** Each view is loaded when it is first opened. `searchOf` names the search parameters that it reads. */
const view = lazyRouteComponent;

const signIn = createRoute({
  getParentRoute: () => rootRoute,
  path: '/sign-in',
  validateSearch: searchOf('to'),
  component: view(() => import('../pages/sign-in/sign-in-view.tsx'), 'SignInView'),
});

const overview = createRoute({
  getParentRoute: () => shellRoute,
  path: '/',
  validateSearch: searchOf('days'),
  component: view(() => import('../pages/overview/overview-view.tsx'), 'OverviewView'),
});

const agents = createRoute({
  getParentRoute: () => shellRoute,
  path: '/agents',
  validateSearch: searchOf('cursor'),
  component: view(() => import('../pages/agents/agents-view.tsx'), 'AgentsView'),
});

const newAgent = createRoute({
  getParentRoute: () => shellRoute,
  path: '/agents/new',
  component: view(() => import('../pages/agents/new-agent-view.tsx'), 'NewAgentView'),
});

const agent = createRoute({
  getParentRoute: () => shellRoute,
  path: '/agents/$agentId',
  validateSearch: searchOf('tab', 'days'),
  component: view(() => import('../pages/agents/agent-view.tsx'), 'AgentView'),
});

const invocations = createRoute({
  getParentRoute: () => shellRoute,
  path: '/invocations',
  validateSearch: searchOf('status', 'agentId', 'startDate', 'endDate', 'cursor'),
  component: view(() => import('../pages/invocations/invocations-view.tsx'), 'InvocationsView'),
});

const invocation = createRoute({
  getParentRoute: () => shellRoute,
  path: '/invocations/$requestId',
  component: view(() => import('../pages/invocations/invocation-view.tsx'), 'InvocationView'),
});

const bulk = createRoute({
  getParentRoute: () => shellRoute,
  path: '/bulk/$bulkId',
  component: view(() => import('../pages/invocations/bulk-view.tsx'), 'BulkView'),
});

const keys = createRoute({
  getParentRoute: () => shellRoute,
  path: '/keys',
  component: view(() => import('../pages/keys/keys-view.tsx'), 'KeysView'),
});

/** Every view of the dashboard and where it stands. */
export const routeTree = rootRoute.addChildren([
  signIn,
  shellRoute.addChildren([overview, agents, newAgent, agent, invocations, invocation, bulk, keys]),
]);
