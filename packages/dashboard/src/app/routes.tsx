import type { QueryClient } from '@tanstack/react-query';
import { createRootRouteWithContext, createRoute, lazyRouteComponent, redirect } from '@tanstack/react-router';
import { exploreParams } from '../pages/explore/explore-params.ts';
import { searchOf } from './search-params.ts';
import { sessionQuery } from './session.ts';
import { NotFoundView } from './shell/not-found.tsx';
import { Shell } from './shell/shell.tsx';

const rootRoute = createRootRouteWithContext<{ queryClient: QueryClient }>()({});

/** Around every view that is for people who are signed in. The others are sent to sign in, and back to where they wanted to go. */
const shellRoute = createRoute({
  getParentRoute: () => rootRoute,
  id: 'shell',
  component: Shell,
  async beforeLoad({ context, location }) {
    const { session } = await context.queryClient.ensureQueryData(sessionQuery);
    if (!session) throw redirect({ to: '/sign-in', search: { to: location.href } });
  },
});

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

const ownAgents = createRoute({
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

const ownAgent = createRoute({
  getParentRoute: () => shellRoute,
  path: '/agents/$agentId',
  validateSearch: searchOf('tab', 'days', 'status', 'error', 'since', 'cursor'),
  component: view(() => import('../pages/agents/agent-view.tsx'), 'AgentView'),
});

const explore = createRoute({
  getParentRoute: () => shellRoute,
  path: '/explore',
  validateSearch: searchOf(...exploreParams),
  component: view(() => import('../pages/explore/explore-view.tsx'), 'ExploreView'),
});

const agent = createRoute({
  getParentRoute: () => shellRoute,
  path: '/explore/$agentId',
  validateSearch: searchOf('tab', 'days', 'task'),
  component: view(() => import('../pages/agent/agent-view.tsx'), 'AgentView'),
});

const invocations = createRoute({
  getParentRoute: () => shellRoute,
  path: '/invocations',
  validateSearch: searchOf('search', 'status', 'agentId', 'startDate', 'endDate', 'cursor'),
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
  validateSearch: searchOf('new'),
  component: view(() => import('../pages/keys/keys-view.tsx'), 'KeysView'),
});

const webhooks = createRoute({
  getParentRoute: () => shellRoute,
  path: '/webhooks',
  validateSearch: searchOf('new'),
  component: view(() => import('../pages/webhooks/webhooks-view.tsx'), 'WebhooksView'),
});

const webhook = createRoute({
  getParentRoute: () => shellRoute,
  path: '/webhooks/$webhookId',
  validateSearch: searchOf('status', 'type', 'eventId', 'offset', 'delivery'),
  component: view(() => import('../pages/webhooks/webhook-view.tsx'), 'WebhookView'),
});

const network = createRoute({
  getParentRoute: () => shellRoute,
  path: '/network',
  component: view(() => import('../pages/network/network-view.tsx'), 'NetworkView'),
});

const account = createRoute({
  getParentRoute: () => shellRoute,
  path: '/account',
  validateSearch: searchOf('tab', 'cursor'),
  component: view(() => import('../pages/account/account-view.tsx'), 'AccountView'),
});

const operator = createRoute({
  getParentRoute: () => shellRoute,
  path: '/operator',
  validateSearch: searchOf('tab', 'invocation', 'search', 'sort', 'cursor', 'account'),
  component: view(() => import('../pages/operator/operator-view.tsx'), 'OperatorView'),
});

const payments = createRoute({
  getParentRoute: () => shellRoute,
  path: '/payments',
  validateSearch: searchOf('tab', 'do', 'type', 'startDate', 'endDate', 'cursor'),
  component: view(() => import('../pages/payments/payments-view.tsx'), 'PaymentsView'),
});

const treasury = createRoute({
  getParentRoute: () => shellRoute,
  path: '/payments/treasuries/$treasuryId',
  validateSearch: searchOf('from', 'to', 'cursor'),
  component: view(() => import('../pages/payments/treasury-view.tsx'), 'TreasuryView'),
});

const channel = createRoute({
  getParentRoute: () => shellRoute,
  path: '/payments/channels/$channelId',
  validateSearch: searchOf('tab', 'cursor'),
  component: view(() => import('../pages/payments/channels/channel-view.tsx'), 'ChannelView'),
});

const withdrawal = createRoute({
  getParentRoute: () => shellRoute,
  path: '/payments/withdrawals/$withdrawalId',
  component: view(() => import('../pages/payments/withdraw/withdrawal-view.tsx'), 'WithdrawalView'),
});

const usage = createRoute({
  getParentRoute: () => shellRoute,
  path: '/usage',
  validateSearch: searchOf('days'),
  component: view(() => import('../pages/usage/usage-view.tsx'), 'UsageView'),
});

/** Addresses without a view, within the shell. */
const notFound = createRoute({ getParentRoute: () => shellRoute, path: '$', component: NotFoundView });

/** Every view of the dashboard, with its path. */
export const routeTree = rootRoute.addChildren([
  signIn,
  shellRoute.addChildren([
    overview,
    ownAgents,
    newAgent,
    ownAgent,
    invocations,
    invocation,
    bulk,
    keys,
    webhooks,
    webhook,
    network,
    account,
    operator,
    explore,
    agent,
    payments,
    treasury,
    channel,
    withdrawal,
    usage,
    notFound,
  ]),
]);
