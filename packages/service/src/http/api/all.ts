import type { AgentListItem } from '@agent-network/contracts/agents/agents';
import type { Api } from '@agent-network/contracts/api';
import { formatUsdc } from '@agent-network/contracts/money';
import type { webhookEndpoints } from '@agent-network/contracts/webhooks';
import { listAudit } from '../../accounts/audit.ts';
import { requireAccount } from '../../accounts/caller.ts';
import { createApiKey, listApiKeys, readAccount, revokeApiKey, rollApiKey } from '../../accounts/keys/manage-keys.ts';
import {
  endAllSessions,
  endSession,
  endSessionById,
  listSessions,
  type StartedSession,
} from '../../accounts/keys/manage-sessions.ts';
import { isSession, toSession } from '../../accounts/keys/session-caller.ts';
import { requestSignIn, signIn, signInLocally, signInSession } from '../../accounts/proofs/sign-in.ts';
import { readHealth } from '../../agents/health/read-health.ts';
import { testEndpoint } from '../../agents/health/test-endpoint.ts';
import { recordHeartbeat } from '../../agents/health/verify-agent.ts';
import { interfacesOf } from '../../agents/interfaces-of.ts';
import { readIdentity } from '../../agents/listing/read-identity.ts';
import { registerAgent } from '../../agents/listing/register-agent.ts';
import { removeAgent } from '../../agents/listing/remove-agent.ts';
import { updateAgent } from '../../agents/listing/update-agent.ts';
import { updateMetadata } from '../../agents/listing/update-metadata.ts';
import { verifyIdentity } from '../../agents/listing/verify-identity.ts';
import { claimToken } from '../../agents/onchain/claim-token.ts';
import { linkToken } from '../../agents/onchain/link-token.ts';
import { readReputation } from '../../agents/reputation/reputation-view.ts';
import { beginningsOf } from '../../agents/search/describe-agents.ts';
import { readAgent, readAgentStatus, requireAgent } from '../../agents/search/find-agent.ts';
import { listAlternatives } from '../../agents/search/list-alternatives.ts';
import { matchAgents } from '../../agents/search/match-task.ts';
import { countFacets, discoverAgents, searchAgents } from '../../agents/search/search-agents.ts';
import { listAgentCalls, listAgentErrors, readAgentEarnings } from '../../calls/read/list-agent-calls.ts';
import { listOwnAgents, readOverview } from '../../calls/read/read-overview.ts';
import { readProgress } from '../../calls/read/read-progress.ts';
import { readUsage } from '../../calls/read/read-usage.ts';
import { answerTokenOf, resultTokenOf } from '../../calls/read-invocation.ts';
import { keylessResourceOf, resourceOf } from '../../calls/start/invocation-purchase.ts';
import { invokeAgent } from '../../calls/start/invoke-agent.ts';
import { invokeKeyless } from '../../calls/start/invoke-keyless.ts';
import { invokeOnFaucet } from '../../calls/start/invoke-on-faucet.ts';
import { listDeliveries } from '../../events/deliveries/list-deliveries.ts';
import { replayWebhook } from '../../events/deliveries/replay-webhook.ts';
import { testWebhook } from '../../events/deliveries/send-delivery.ts';
import { eventsAt } from '../../events/outbox/live-events.ts';
import { listEvents, requireKept } from '../../events/outbox/read-events.ts';
import {
  createWebhook,
  deleteWebhook,
  listWebhooks,
  readWebhookSecret,
  rotateWebhookSecret,
  updateWebhook,
} from '../../events/webhooks/manage-webhooks.ts';
import { invalid } from '../../lib/app-error.ts';
import { NODE_VERSION } from '../../lib/process/node-version.ts';
import { listNetworkAgents } from '../../network/list-network-agents.ts';
import { readNetwork } from '../../network/read-network.ts';
import { listOperatorAccounts, resumeAccount, setAccountPlan, suspendAccount } from '../../operator/account-status.ts';
import { readChecklist } from '../../operator/read-checklist.ts';
import { readOperatorAccount } from '../../operator/read-operator-account.ts';
import { listOperatorClaims, readOperatorChannels } from '../../operator/read-operator-channels.ts';
import { readOperatorInvocation } from '../../operator/read-operator-invocation.ts';
import { readSettings } from '../../operator/read-settings.ts';
import { readStatus } from '../../operator/read-status.ts';
import { claimWallet } from '../../payments/deposits/claim-wallet.ts';
import { deposit } from '../../payments/deposits/deposit.ts';
import { addTestFunds } from '../../payments/deposits/test-funds.ts';
import { createTreasury, readBalance, readTreasury } from '../../payments/ledger/treasury.ts';
import { collectEarnings } from '../../payments/payouts/collect-earnings.ts';
import { creditHeldPayout, listHeldPayouts } from '../../payments/payouts/credit-held.ts';
import { requestWithdrawal, withdrawProven } from '../../payments/payouts/prove-withdrawal.ts';
import { readWithdrawal } from '../../payments/payouts/withdraw.ts';
import {
  listChannelCharges,
  listChannelHistory,
  listChannels,
  readChannel,
} from '../../payments/schemes/batch-settlement/read-channels.ts';
import { setBalanceAlert } from '../../payments/statements/balance-alert.ts';
import { listPayments } from '../../payments/statements/list-payments.ts';
import { readAssetReserves } from '../../payments/statements/read-networks.ts';
import { readStatement } from '../../payments/statements/read-statement.ts';
import { PaymentRequiredError } from '../../payments/x402/payment-required.ts';
import { readPresentedPayment } from '../../payments/x402/read-presented-payment.ts';
import { setPaymentResponse } from '../answer/payment-response.ts';
import { SseAnswer } from '../answer/sse.ts';
import type { HandlerCall, Handlers } from '../request/handler.ts';
import type { HttpContext } from '../request/http-context.ts';
import { clearedCookie, sessionCookie } from '../request/identify.ts';
import { withExtensions } from '../request/unpaid-terms.ts';
import { fileHandlers } from './files.ts';
import { answerInvoked, invocationHandlers } from './invocations.ts';
import { resumeAfter, signedInWith } from './reader-of.ts';

const agentHandlers = {
  listAgents: (ctx, { query }) => discoverAgents(ctx, query),
  async searchAgents(ctx, { body }) {
    const found = await searchAgents(ctx, body);
    if (!body.describe) return found;
    const listed = found.agents.value as AgentListItem[];
    return {
      ...found,
      descriptions: await beginningsOf(
        ctx,
        listed.map(({ id }) => id),
      ),
    };
  },
  async matchAgents(ctx, { body, setHeader }) {
    const { data, position } = await matchAgents(ctx, body);
    setHeader('x-registry-position', position);
    return data;
  },
  registerAgent: (ctx, { caller, body, once }) => registerAgent(ctx, requireAccount(caller), body, once),
  testEndpoint: (ctx, { caller, body }) => testEndpoint(ctx, requireAccount(caller), body),
  getAgent: async (ctx, { params }) => ({
    ...(await readAgent(ctx, params.id)),
    interfaces: interfacesOf(ctx, params.id),
    protocol: (await requireAgent(ctx, params.id)).protocol,
  }),
  updateAgent: (ctx, { caller, params, body }) => updateAgent(ctx, requireAccount(caller), params.id, body),
  removeAgent: (ctx, { caller, params }) => removeAgent(ctx, requireAccount(caller), params.id),
  getAgentReputation: (ctx, { params }) => readReputation(ctx, params.id),
  getAgentFacets: (ctx, { query }) => countFacets(ctx, query),
  getAgentHealth: (ctx, { params, query }) => readHealth(ctx, params.id, query),
  listAgentCalls: (ctx, { caller, params, query }) => listAgentCalls(ctx, requireAccount(caller), params.id, query),
  listAgentErrors: (ctx, { caller, params, query }) => listAgentErrors(ctx, requireAccount(caller), params.id, query),
  getAgentEarnings: (ctx, { caller, params, query }) =>
    readAgentEarnings(ctx, requireAccount(caller), params.id, query),
  listAlternatives: (ctx, { params }) => listAlternatives(ctx, params.id),
  getAgentStatus: (ctx, { params }) => readAgentStatus(ctx, params.id),
  heartbeat: (ctx, { caller, params, body, once }) => recordHeartbeat(ctx, caller, params.id, body, once),
} satisfies Partial<Handlers>;

const identityHandlers = {
  getIdentity: (ctx, { params }) => readIdentity(ctx, params.id),
  verifyIdentity: (ctx, { caller, body, once }) => verifyIdentity(ctx, requireAccount(caller), body, once),
  claimToken: (ctx, { caller, params }) => claimToken(ctx, requireAccount(caller), params.id),
  linkToken: (ctx, { caller, params, body }) => linkToken(ctx, requireAccount(caller), params.id, body.tokenId),
  updateIdentityMetadata: (ctx, { caller, params, body }) =>
    updateMetadata(ctx, requireAccount(caller), params.id, body),
} satisfies Partial<Handlers>;

const keylessHandlers = {
  invokeKeyless(ctx, call) {
    const { caller, params, body } = call;
    if (caller.kind === 'anonymous') return answerKeyless(ctx, call);
    const { agentId } = params;
    const forced = call.headers['x-payment-method'];
    if (forced === 'test_funds')
      throw invalid('X-Payment-Method', 'must be treasury or x402: add test money with POST /payments/test-funds');
    return answerInvoked(ctx, { ...call, caller }, resourceOf(agentId), (asked) =>
      invokeAgent(ctx, caller, { ...asked, agentId, quoteId: null, body, via: null, gateway: 'x402' }),
    );
  },
} satisfies Partial<Handlers>;

const paymentHandlers = {
  createTreasury: (ctx, { caller, body }) => createTreasury(ctx, caller, body),
  async depositToTreasury(ctx, call) {
    const shown = readPresentedPayment(ctx, call.headers);
    const { data, ...paid } = await deposit(ctx, call.caller, call.body, shown, {
      once: call.once,
      client: call.client.address,
      syncWaitMs: ctx.syncWaitMs,
    });
    await setPaymentResponse(ctx, call, { ...paid, transactionHash: data.transactionHash });
    return data;
  },
  addTestFunds: (ctx, { caller, client, once }) => addTestFunds(ctx, requireAccount(caller), client.address, once),
  collectEarnings: (ctx, { caller, body, once }) => collectEarnings(ctx, requireAccount(caller), body, once),
  setBalanceAlert: (ctx, { caller, body }) => setBalanceAlert(ctx, requireAccount(caller), body),
  withdraw: (ctx, { caller, body, once }) => withdrawProven(ctx, requireAccount(caller), body, once),
  requestWithdrawal: (ctx, { caller, body, once }) => requestWithdrawal(ctx, requireAccount(caller), body, once),
  getWithdrawal: (ctx, { caller, params }) => readWithdrawal(ctx, caller, params.withdrawalId),
  listHeldPayouts: async (ctx, { caller }) => ({ payouts: await listHeldPayouts(ctx, requireAccount(caller)) }),
  creditHeldPayout: (ctx, { caller, params }) => creditHeldPayout(ctx, requireAccount(caller), params.paymentId),
  claimWallet: (ctx, { caller, body, once }) => claimWallet(ctx, requireAccount(caller), body, once),
  getTreasury: (ctx, { caller, params }) => readTreasury(ctx, caller, params.treasuryId),
  getStatement: (ctx, { caller, params, query }) => readStatement(ctx, caller, params.treasuryId, query),
  getReserves: async (ctx) => {
    const own = await ctx.reserves.read();
    return { ...own, assets: await readAssetReserves(ctx, own) };
  },
  listPaymentNetworks: async (ctx) => ({ networks: await ctx.networksReader() }),
  getBalance: (ctx, { caller }) => readBalance(ctx, caller),
  listPayments: (ctx, { caller, query }) => listPayments(ctx, caller, query),
  listChannels: (ctx, { caller, query }) => listChannels(ctx, caller, query),
  getChannel: (ctx, { caller, params }) => readChannel(ctx, caller, params.channelId),
  listChannelHistory: (ctx, { caller, params, query }) => listChannelHistory(ctx, caller, params.channelId, query),
  listChannelCharges: (ctx, { caller, params, query }) => listChannelCharges(ctx, caller, params.channelId, query),
} satisfies Partial<Handlers>;

const networkHandlers = {
  getOperatorStatus: (ctx) => readStatus(ctx),
  getOperatorTotals: (ctx) => ctx.totals.read(),
  getOperatorChecklist: (ctx) => readChecklist(ctx),
  getOperatorSettings: async (ctx) => ({ settings: readSettings(ctx) }),
  getOperatorInvocation: (ctx, { params }) => readOperatorInvocation(ctx, params.id),
  getOperatorChannels: (ctx, { query }) => readOperatorChannels(ctx, query),
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

const accessHandlers = {
  requestSignIn: (ctx, { body }) => requestSignIn(ctx, body),
  signIn: (ctx, { body, headers }) => signIn(ctx, body, headers['x-agent-network-via']),
  getAccount: (ctx, { caller }) => readAccount(ctx, caller),
  listApiKeys: (ctx, { caller }) => listApiKeys(ctx, requireAccount(caller)),
  createApiKey: (ctx, { caller, body, once }) => createApiKey(ctx, requireAccount(caller), body, once),
  revokeApiKey: (ctx, { caller, params }) => revokeApiKey(ctx, requireAccount(caller), params.keyId),
  rollApiKey: (ctx, { caller, params, body, once }) =>
    rollApiKey(ctx, requireAccount(caller), params.keyId, body, once),
  listAudit: (ctx, { caller, query }) => listAudit(ctx, requireAccount(caller), query),
  listOwnAgents: (ctx, { caller, query }) => listOwnAgents(ctx, requireAccount(caller), query),
  getProgress: (ctx, { caller }) => readProgress(ctx, requireAccount(caller)),
  getOverview: (ctx, { caller, query }) => readOverview(ctx, requireAccount(caller), query),
  getUsage: (ctx, { caller, query }) => readUsage(ctx, requireAccount(caller), query),
} satisfies Partial<Handlers>;

const sessionHandlers = {
  createSession: async (ctx, call) => begin(call, await signInSession(ctx, call.body, call.client.userAgent)),
  createLocalSession: async (ctx, call) => begin(call, await signInLocally(ctx, call.client)),
  getSession: async (ctx, { caller, client }) => ({
    session: isSession(caller) ? toSession(caller) : null,
    hasLocalAccount: ctx.localAccount !== null && client.isLocal,
    eventsAt: isSession(caller) ? await eventsAt(ctx) : null,
    label: ctx.nodeLabel,
    chainId: ctx.chain.chainId,
    isLocalChain: ctx.chain.isLocal,
    usdc: ctx.chain.token,
    testFunds: ctx.faucet && formatUsdc(ctx.faucetSettings.amountMicro),
    version: NODE_VERSION,
  }),
  async endSession(ctx, { caller, setHeader }) {
    // With a key the cookie is ignored.
    if (caller.kind === 'anonymous' || isSession(caller)) setHeader('set-cookie', clearedCookie);
    if (isSession(caller)) await endSession(ctx, caller);
    return { signedOut: isSession(caller) };
  },
  listSessions: (ctx, { caller }) => listSessions(ctx, requireAccount(caller)),
  endSessionById: (ctx, { caller, params }) => endSessionById(ctx, requireAccount(caller), params.sessionId),
  endAllSessions: (ctx, { caller }) => endAllSessions(ctx, requireAccount(caller)),
} satisfies Partial<Handlers>;

const webhookHandlers = {
  async listEvents(ctx, { caller, query, headers }) {
    const account = requireAccount(caller);
    const after = resumeAfter({ headers, query });
    if (!(headers.accept ?? '').includes('text/event-stream'))
      return listEvents(ctx, account, { ...query, after: query.lastEventId ?? query.after });
    // Refused before the stream is open: clients open one that breaks again and again.
    if (after !== null) await requireKept(ctx, account, after);
    return new SseAnswer(ctx.liveEvents.open(account, { after, type: query.type ?? null }));
  },
  listWebhooks: (ctx, { caller }) => listWebhooks(ctx, requireAccount(caller)),
  createWebhook: (ctx, { caller, body, once }) => createWebhook(ctx, requireAccount(caller), body, once),
  updateWebhook: (ctx, { caller, params, body }) => updateWebhook(ctx, requireAccount(caller), params.webhookId, body),
  deleteWebhook: (ctx, { caller, params }) => deleteWebhook(ctx, requireAccount(caller), params.webhookId),
  getWebhookSecret: (ctx, { caller, params }) => readWebhookSecret(ctx, requireAccount(caller), params.webhookId),
  rotateWebhookSecret: (ctx, { caller, params, once }) =>
    rotateWebhookSecret(ctx, requireAccount(caller), params.webhookId, once),
  testWebhook: (ctx, { caller, params, once }) => testWebhook(ctx, requireAccount(caller), params.webhookId, once),
  listDeliveries: (ctx, { caller, params, query }) =>
    listDeliveries(ctx, requireAccount(caller), params.webhookId, query),
  replayWebhook: (ctx, { caller, params, body, once }) =>
    replayWebhook(ctx, requireAccount(caller), params.webhookId, body, once),
} satisfies Handlers<keyof typeof webhookEndpoints>;

/** One handler per row of the endpoint table; a missing one does not compile. */
export const handlers: Handlers = {
  ...agentHandlers,
  ...identityHandlers,
  ...invocationHandlers,
  ...keylessHandlers,
  ...paymentHandlers,
  ...networkHandlers,
  ...accessHandlers,
  ...sessionHandlers,
  ...webhookHandlers,
  ...fileHandlers,
};

type Call = HandlerCall<Api['invokeKeyless']>;

/** The token that reads on comes with every answer, in its body and, for a stream, in its header. */
async function answerKeyless(ctx: HttpContext, call: Call) {
  const { params, body, headers } = call;
  if (headers['x-payment-method'] === 'treasury')
    throw invalid('X-Payment-Method', 'must be x402: paying from a treasury needs an API key');
  const isOnFaucet = headers['x-payment-method'] === 'test_funds';
  const path = keylessResourceOf(params.agentId);
  const proof = {
    resultToken: headers['x-result-token'] ?? null,
    signedIn: await signedInWith(ctx, headers, [path]),
  };
  let resultToken: string | null = null;
  let answerToken: string | null = null;
  const answer = await answerInvoked(ctx, call, path, async (asked) => {
    const { agentId } = params;
    const key = {
      idempotencyKey: call.keylessKey,
      count: call.countPayer,
      isFromOtherSite: call.client.isFromOtherSite,
    };
    const wanted = { ...asked, ...key, agentId, body, gateway: 'x402' } as const;
    if (isOnFaucet && (asked.shown || proof.signedIn))
      throw invalid('X-Payment-Method', 'must be x402: a payment or a wallet came with the call');
    const invoked = isOnFaucet
      ? await invokeOnFaucet(ctx, { ...wanted, resultToken: null })
      : await invokeKeyless(ctx, { ...wanted, ...proof });
    if (!invoked.isWithheld) resultToken = resultTokenOf(ctx, invoked.invocation.id);
    if (resultToken !== null) call.setHeader('x-result-token', resultToken);
    if (!invoked.isWithheld && invoked.invocation.inputTimeoutS !== null) {
      answerToken = answerTokenOf(ctx, invoked.invocation.id);
      call.setHeader('x-answer-token', answerToken);
    }
    return invoked;
  }).catch((error) => {
    if (!(error instanceof PaymentRequiredError)) throw error;
    throw withExtensions(ctx, error, params.agentId);
  });
  if (answer instanceof SseAnswer || resultToken === null) return answer;
  return { ...answer, resultToken, ...(answerToken === null ? {} : { answerToken }) };
}

interface SetsHeaders {
  setHeader(name: string, value: string): void;
}

function begin(call: SetsHeaders, { session, token }: StartedSession) {
  call.setHeader('set-cookie', sessionCookie(token));
  return session;
}
