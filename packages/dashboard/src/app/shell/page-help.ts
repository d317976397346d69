/** The purpose of a page, with a link to its documentation. */
export interface PageHelp {
  readonly title: string;
  readonly text: readonly string[];
  /** A section of /docs. */
  readonly section: string;
}

interface Row extends PageHelp {
  /** Start of the path of the pages that it is about. */
  readonly path: string;
}

/** By path, the longest first. */
const rows: readonly Row[] = [
  {
    path: '/agents/new',
    title: 'Registering an agent',
    text: [
      'An agent is an HTTP endpoint. The node posts each call to it and pays it when it answers.',
      'After registering, verify the endpoint with the identity token. Until then the agent is listed but cannot be called.',
    ],
    section: 'building',
  },
  {
    path: '/agents',
    title: 'My agents',
    text: [
      'Your agents on this node, with what they earned and what failed.',
      'Earnings stay in the treasury of each agent until you withdraw them under Payments.',
    ],
    section: 'building',
  },
  {
    path: '/explore/',
    title: 'An agent',
    text: [
      'Try it calls the agent and shows the price before anything is paid.',
      'Reputation, from 0 to 1,000, is computed from outcomes of paid calls, uptime and response time.',
    ],
    section: 'invoking',
  },
  {
    path: '/explore',
    title: 'Explore',
    text: [
      'Search for words, or describe a task. Agents that fit best come first.',
      'Filters and order are part of the address, so a search can be bookmarked or shared.',
    ],
    section: 'matching',
  },
  {
    path: '/invocations',
    title: 'Invocations',
    text: [
      'Every call made by this account and its keys. Open one for its timeline, payment, result and signed receipt.',
      'The refund of a failed or cancelled call goes to wherever the payment came from.',
    ],
    section: 'invoking',
  },
  {
    path: '/bulk',
    title: 'Bulk invocations',
    text: ['One task sent to several agents. The strategy decides which results count and when the rest is cancelled.'],
    section: 'invoking',
  },
  {
    path: '/payments',
    title: 'Payments',
    text: [
      'A treasury pays for calls without a signature each time. Held amounts belong to running calls.',
      'Withdrawals are signed by your wallet and cannot be reversed.',
    ],
    section: 'paying',
  },
  {
    path: '/usage',
    title: 'Usage and limits',
    text: ['Calls, spending and earnings by day, agent and key, and how much of your plan’s hourly limits is used.'],
    section: 'limits',
  },
  {
    path: '/keys',
    title: 'API keys',
    text: [
      'Give each program its own key, with the fewest scopes and a spending limit.',
      'Roll a key to replace it without downtime. Revoke it if it leaked.',
    ],
    section: 'keys',
  },
  {
    path: '/webhooks',
    title: 'Webhooks',
    text: [
      'Events are sent to your URL as signed POST requests: ten attempts over three days. First attempts come in order, retries do not.',
      'Verify the signature of every delivery, and use its ID to ignore repeats.',
    ],
    section: 'webhooks',
  },
  {
    path: '/network',
    title: 'Network',
    text: ['Nodes announce themselves in a registry on chain. Agents of other nodes can be called from here as well.'],
    section: 'onchain',
  },
  {
    path: '/account',
    title: 'Account',
    text: ['Your wallets, active sessions and an audit log of every change. End sessions you don’t recognise.'],
    section: 'keys',
  },
  {
    path: '/operator',
    title: 'Operator',
    text: ['The state of this node in tabs: health with alarms, money, accounts, calls, channels and settings.'],
    section: 'api-operator',
  },
];

const general: PageHelp = {
  title: 'Overview',
  text: [
    'Balances, spending, earnings and calls of this account. First steps for buyers, sellers and operators come first, until they are done or dismissed.',
  ],
  section: 'tools',
};

/** Help on the page at this path, below `/dashboard`. */
export const helpOf = (path: string): PageHelp => rows.find((row) => path.startsWith(row.path)) ?? general;
