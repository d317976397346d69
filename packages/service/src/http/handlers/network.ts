import { requireAccount } from '../../access/caller/caller.ts';
import { listNetworkAgents } from '../../network/feed/list-network-agents.ts';
import { readNetwork } from '../../network/read-network.ts';
import {
  listOperatorAccounts,
  resumeAccount,
  setAccountPlan,
  suspendAccount,
} from '../../operator/account-standing.ts';
import { readOperatorAccount } from '../../operator/read-operator-account.ts';
import { listOperatorClaims, readOperatorChannels } from '../../operator/read-operator-channels.ts';
import { readOperatorInvocation } from '../../operator/read-operator-invocation.ts';
import { readStatus } from '../../operator/read-status.ts';
import type { Handlers } from '../request/handler.ts';

export const networkHandlers = {
  getOperatorStatus: (ctx) => readStatus(ctx),
  getOperatorTotals: (ctx) => ctx.totals.read(),
  getOperatorInvocation: (ctx, { params }) => readOperatorInvocation(ctx, params.id),
  getOperatorChannels: (ctx) => readOperatorChannels(ctx),
  listOperatorClaims: (ctx, { query }) => listOperatorClaims(ctx, query),
  listOperatorAccounts: (ctx, { query }) => listOperatorAccounts(ctx, query),
  getOperatorAccount: (ctx, { params }) => readOperatorAccount(ctx, params.accountId),
  setAccountPlan: (ctx, { caller, params, body, once }) =>
    setAccountPlan(ctx, requireAccount(caller), params.accountId, body, once),
  suspendAccount: (ctx, { caller, params, body, once }) =>
    suspendAccount(ctx, requireAccount(caller), params.accountId, body, once),
  resumeAccount: (ctx, { caller, params, body, once }) =>
    resumeAccount(ctx, requireAccount(caller), params.accountId, body, once),
  getNetwork: (ctx) => readNetwork(ctx),
  listNetworkAgents: (ctx, { query }) => listNetworkAgents(ctx, query),
} satisfies Partial<Handlers>;
