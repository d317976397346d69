// Made from the endpoint table by packages/contracts/scripts/openapi.ts.
import type { EndpointName } from './api.ts';
import type { Route } from './endpoint.ts';
import type { ErrorCode } from './errors.ts';

/** Every call of the API, as a client has to send it. */
export const routes: Readonly<Record<EndpointName, Route>> = {
  listAgents: {"method":"GET","path":"/agents","auth":"none"},
  searchAgents: {"method":"POST","path":"/agents/search","auth":"none","hasBody":true},
  registerAgent: {"method":"POST","path":"/agents","auth":"key","hasBody":true,"hasSecret":true},
  getAgent: {"method":"GET","path":"/agents/{id}","auth":"none"},
  updateAgent: {"method":"PUT","path":"/agents/{id}","auth":"key","hasBody":true},
  removeAgent: {"method":"DELETE","path":"/agents/{id}","auth":"key"},
  getAgentStatus: {"method":"GET","path":"/agents/{id}/status","auth":"none"},
  heartbeat: {"method":"POST","path":"/agents/{id}/heartbeat","auth":"agent","hasBody":true},
  getAgentFacets: {"method":"GET","path":"/agents/facets","auth":"none"},
  getAgentHealth: {"method":"GET","path":"/agents/{id}/health","auth":"none"},
  listAlternatives: {"method":"GET","path":"/agents/{id}/alternatives","auth":"none"},
  listAgentCalls: {"method":"GET","path":"/agents/{id}/calls","auth":"key"},
  listAgentErrors: {"method":"GET","path":"/agents/{id}/errors","auth":"key"},
  getAgentEarnings: {"method":"GET","path":"/agents/{id}/earnings","auth":"key"},
  testEndpoint: {"method":"POST","path":"/agents/test","auth":"key","hasBody":true},
  matchAgents: {"method":"POST","path":"/agents/match","auth":"none","hasBody":true},
  getAgentReputation: {"method":"GET","path":"/agents/{id}/reputation","auth":"none"},
  getIdentity: {"method":"GET","path":"/identity/{id}","auth":"none"},
  verifyIdentity: {"method":"POST","path":"/identity/verify","auth":"key","hasBody":true,"hasSecret":true},
  claimToken: {"method":"POST","path":"/identity/{id}/claim","auth":"key"},
  linkToken: {"method":"POST","path":"/identity/{id}/link","auth":"key","hasBody":true},
  updateIdentityMetadata: {"method":"PUT","path":"/identity/{id}/metadata","auth":"key","hasBody":true},
  invokeAgent: {"method":"POST","path":"/invoke/{agentId}","auth":"key","stream":"on_request","hasBody":true},
  getInvocation: {"method":"GET","path":"/invoke/{requestId}","auth":"key"},
  cancelInvocation: {"method":"POST","path":"/invoke/{requestId}/cancel","auth":"key"},
  answerInput: {"method":"POST","path":"/invoke/{requestId}/input","auth":"key","hasBody":true},
  invokeAuto: {"method":"POST","path":"/invoke/auto","auth":"key","stream":"on_request","hasBody":true},
  invokeKeyless: {"method":"POST","path":"/x402/{agentId}","auth":"none","keyless":"pays","stream":"on_request","hasBody":true},
  quoteInvocation: {"method":"POST","path":"/invoke/{agentId}/quote","auth":"key","hasBody":true},
  getReceipt: {"method":"GET","path":"/invoke/{requestId}/receipt","auth":"key"},
  streamInvocation: {"method":"GET","path":"/invoke/{requestId}/events","auth":"key","stream":"always"},
  listInvocations: {"method":"GET","path":"/invoke/history","auth":"key"},
  exportRequests: {"method":"GET","path":"/account/export","auth":"key"},
  invokeBulk: {"method":"POST","path":"/invoke/bulk","auth":"key","hasBody":true},
  getBulk: {"method":"GET","path":"/invoke/bulk/{bulkId}","auth":"key"},
  putFile: {"method":"PUT","path":"/files/{sha256}","auth":"key","bytes":"sent"},
  createFile: {"method":"POST","path":"/files","auth":"key","bytes":"sent"},
  listFiles: {"method":"GET","path":"/files","auth":"key"},
  getFile: {"method":"GET","path":"/files/{fileId}","auth":"key"},
  getFileContent: {"method":"GET","path":"/files/{fileId}/content","auth":"key","bytes":"answered"},
  deleteFile: {"method":"DELETE","path":"/files/{fileId}","auth":"key"},
  createTreasury: {"method":"POST","path":"/payments/treasury","auth":"key","hasBody":true},
  depositToTreasury: {"method":"POST","path":"/payments/treasury/deposit","auth":"key","hasBody":true},
  addTestFunds: {"method":"POST","path":"/payments/test-funds","auth":"key"},
  getBalance: {"method":"GET","path":"/payments/balance","auth":"key"},
  setBalanceAlert: {"method":"PUT","path":"/payments/balance/alert","auth":"key","hasBody":true},
  listPayments: {"method":"GET","path":"/payments/history","auth":"key"},
  withdraw: {"method":"POST","path":"/payments/withdraw","auth":"key","hasBody":true},
  requestWithdrawal: {"method":"POST","path":"/payments/withdraw/challenge","auth":"key","hasBody":true},
  getWithdrawal: {"method":"GET","path":"/payments/withdrawals/{withdrawalId}","auth":"key"},
  collectEarnings: {"method":"POST","path":"/payments/collect","auth":"key","hasBody":true},
  listHeldPayouts: {"method":"GET","path":"/payments/held","auth":"key"},
  creditHeldPayout: {"method":"POST","path":"/payments/held/{paymentId}/credit","auth":"key"},
  getTreasury: {"method":"GET","path":"/payments/treasury/{treasuryId}","auth":"key"},
  getStatement: {"method":"GET","path":"/payments/treasury/{treasuryId}/statement","auth":"key"},
  getReserves: {"method":"GET","path":"/payments/reserves","auth":"none"},
  listPaymentNetworks: {"method":"GET","path":"/payments/networks","auth":"none"},
  claimWallet: {"method":"POST","path":"/payments/claims","auth":"key","hasBody":true},
  listChannels: {"method":"GET","path":"/payments/channels","auth":"key"},
  getChannel: {"method":"GET","path":"/payments/channels/{channelId}","auth":"key"},
  listChannelHistory: {"method":"GET","path":"/payments/channels/{channelId}/history","auth":"key"},
  listChannelCharges: {"method":"GET","path":"/payments/channels/{channelId}/charges","auth":"key"},
  requestSignIn: {"method":"POST","path":"/auth/challenge","auth":"none","hasBody":true},
  signIn: {"method":"POST","path":"/auth/sign-in","auth":"none","hasBody":true},
  createSession: {"method":"POST","path":"/auth/session","auth":"none","hasBody":true},
  createLocalSession: {"method":"POST","path":"/auth/session/local","auth":"none"},
  getSession: {"method":"GET","path":"/auth/session","auth":"none"},
  endSession: {"method":"DELETE","path":"/auth/session","auth":"none"},
  listSessions: {"method":"GET","path":"/auth/sessions","auth":"key"},
  endSessionById: {"method":"DELETE","path":"/auth/sessions/{sessionId}","auth":"key"},
  endAllSessions: {"method":"DELETE","path":"/auth/sessions","auth":"key"},
  getAccount: {"method":"GET","path":"/account","auth":"key"},
  listApiKeys: {"method":"GET","path":"/account/keys","auth":"key"},
  createApiKey: {"method":"POST","path":"/account/keys","auth":"key","hasBody":true,"hasSecret":true},
  revokeApiKey: {"method":"DELETE","path":"/account/keys/{keyId}","auth":"key"},
  rollApiKey: {"method":"POST","path":"/account/keys/{keyId}/roll","auth":"key","hasBody":true,"hasSecret":true},
  getUsage: {"method":"GET","path":"/account/usage","auth":"key"},
  listAudit: {"method":"GET","path":"/account/audit","auth":"key"},
  getProgress: {"method":"GET","path":"/account/progress","auth":"key"},
  getOverview: {"method":"GET","path":"/account/overview","auth":"key"},
  listOwnAgents: {"method":"GET","path":"/account/agents","auth":"key"},
  listEvents: {"method":"GET","path":"/events","auth":"key","stream":"on_request"},
  listWebhooks: {"method":"GET","path":"/account/webhooks","auth":"key"},
  createWebhook: {"method":"POST","path":"/account/webhooks","auth":"key","hasBody":true,"hasSecret":true},
  updateWebhook: {"method":"PUT","path":"/account/webhooks/{webhookId}","auth":"key","hasBody":true},
  deleteWebhook: {"method":"DELETE","path":"/account/webhooks/{webhookId}","auth":"key"},
  getWebhookSecret: {"method":"GET","path":"/account/webhooks/{webhookId}/secret","auth":"key"},
  rotateWebhookSecret: {"method":"POST","path":"/account/webhooks/{webhookId}/rotate","auth":"key","hasSecret":true},
  testWebhook: {"method":"POST","path":"/account/webhooks/{webhookId}/test","auth":"key"},
  listDeliveries: {"method":"GET","path":"/account/webhooks/{webhookId}/deliveries","auth":"key"},
  replayWebhook: {"method":"POST","path":"/account/webhooks/{webhookId}/replay","auth":"key","hasBody":true},
  getNetwork: {"method":"GET","path":"/network","auth":"none"},
  listNetworkAgents: {"method":"GET","path":"/network/agents","auth":"none"},
  getOperatorChecklist: {"method":"GET","path":"/operator/checklist","auth":"key"},
  getOperatorSettings: {"method":"GET","path":"/operator/settings","auth":"key"},
  getOperatorTotals: {"method":"GET","path":"/operator/totals","auth":"key"},
  getOperatorStatus: {"method":"GET","path":"/operator/status","auth":"key"},
  getOperatorInvocation: {"method":"GET","path":"/operator/invocations/{id}","auth":"key"},
  listOperatorAccounts: {"method":"GET","path":"/operator/accounts","auth":"key"},
  getOperatorAccount: {"method":"GET","path":"/operator/accounts/{accountId}","auth":"key"},
  setAccountPlan: {"method":"PUT","path":"/operator/accounts/{accountId}/plan","auth":"key","hasBody":true},
  suspendAccount: {"method":"POST","path":"/operator/accounts/{accountId}/suspend","auth":"key","hasBody":true},
  resumeAccount: {"method":"POST","path":"/operator/accounts/{accountId}/resume","auth":"key","hasBody":true},
  getOperatorChannels: {"method":"GET","path":"/operator/channels","auth":"key"},
  listOperatorClaims: {"method":"GET","path":"/operator/claims","auth":"key"},
};

/** Every call of the API with what it does, which mapped types hand on to editors. */
export interface DocumentedCalls {
  /** List agents, best reputation first: `GET /agents`. */
  readonly listAgents: EndpointName;
  /** Search agents by capabilities, text, rates, reputation and state, in a chosen order: `POST /agents/search`. */
  readonly searchAgents: EndpointName;
  /** Register an agent: `POST /agents`. */
  readonly registerAgent: EndpointName;
  /** Read one agent: `GET /agents/{id}`. */
  readonly getAgent: EndpointName;
  /** Change fields of your agent: `PUT /agents/{id}`. */
  readonly updateAgent: EndpointName;
  /** Remove your agent permanently: `DELETE /agents/{id}`. */
  readonly removeAgent: EndpointName;
  /** Read whether an agent is online, its response time and its load: `GET /agents/{id}/status`. */
  readonly getAgentStatus: EndpointName;
  /** Report an agent's load; `accepting: false` takes it offline at once: `POST /agents/{id}/heartbeat`. */
  readonly heartbeat: EndpointName;
  /** Count agents by capability, status, home node and verification, for a list with other filters: `GET /agents/facets`. */
  readonly getAgentFacets: EndpointName;
  /** Read the uptime and response times of an agent over time: `GET /agents/{id}/health`. */
  readonly getAgentHealth: EndpointName;
  /** List at most five online agents that could replace this one, the most similar first: `GET /agents/{id}/alternatives`. */
  readonly listAlternatives: EndpointName;
  /** List all calls to your agent, newest first, without what the callers sent: `GET /agents/{id}/calls`. */
  readonly listAgentCalls: EndpointName;
  /** Group the failed calls to your agent by reason, the most frequent first: `GET /agents/{id}/errors`. */
  readonly listAgentErrors: EndpointName;
  /** Read the earnings of your agent, by day: `GET /agents/{id}/earnings`. */
  readonly getAgentEarnings: EndpointName;
  /** Test whether an endpoint answers in its protocol, before it is registered; 60 an hour: `POST /agents/test`. */
  readonly testEndpoint: EndpointName;
  /** Rank online agents for a task, and explain each score in parts: `POST /agents/match`. */
  readonly matchAgents: EndpointName;
  /** Read an agent's reputation by component: `GET /agents/{id}/reputation`. */
  readonly getAgentReputation: EndpointName;
  /** Read the identity, owner and proofs of an agent: `GET /identity/{id}`. */
  readonly getIdentity: EndpointName;
  /** Prove the endpoint of your agent now, or its owner wallet: request a challenge, then send it signed: `POST /identity/verify`. */
  readonly verifyIdentity: EndpointName;
  /** Transfer the token that the node registered for your agent to its proven owner wallet: `POST /identity/{id}/claim`. */
  readonly claimToken: EndpointName;
  /** Link your agent to a registry token that its proven owner wallet already holds: `POST /identity/{id}/link`. */
  readonly linkToken: EndpointName;
  /** Replace fields of your agent's metadata; null removes one: `PUT /identity/{id}/metadata`. */
  readonly updateIdentityMetadata: EndpointName;
  /** Invoke an agent: 402 with terms, paid by x402 or from a treasury, sync or async: `POST /invoke/{agentId}`. */
  readonly invokeAgent: EndpointName;
  /** Read your request: its state and, when completed, its result: `GET /invoke/{requestId}`. */
  readonly getInvocation: EndpointName;
  /** Cancel your open request; its payment is refunded: `POST /invoke/{requestId}/cancel`. */
  readonly cancelInvocation: EndpointName;
  /** Answer the question of the agent that your request waits for: `POST /invoke/{requestId}/input`. */
  readonly answerInput: EndpointName;
  /** Invoke the agent that matches a task best within a maximum cost: `POST /invoke/auto`. */
  readonly invokeAuto: EndpointName;
  /** Invoke an agent without an API key: 402 with terms, paid by x402; free agents at once: `POST /x402/{agentId}`. */
  readonly invokeKeyless: EndpointName;
  /** Quote the price of a call: locked for 15 minutes, valid once: `POST /invoke/{agentId}/quote`. */
  readonly quoteInvocation: EndpointName;
  /** The signed receipt of your finished request: who paid whom, how much, for what and with what result: `GET /invoke/{requestId}/receipt`. */
  readonly getReceipt: EndpointName;
  /** Stream the events of your request, from the start or after `Last-Event-ID`, until it ends or waits for an answer: `GET /invoke/{requestId}/events`. */
  readonly streamInvocation: EndpointName;
  /** Your requests, newest first: `GET /invoke/history`. */
  readonly listInvocations: EndpointName;
  /** Your ended requests whole, with input and result, oldest first, before retention removes them: `GET /account/export`. */
  readonly exportRequests: EndpointName;
  /** Send one task to several agents, paid from a treasury: `POST /invoke/bulk`. */
  readonly invokeBulk: EndpointName;
  /** Read the state and outcome of your bulk request: `GET /invoke/bulk/{bulkId}`. */
  readonly getBulk: EndpointName;
  /** Store a file under the SHA-256 of its content; 201 if it is new, 200 if the account has it already: `PUT /files/{sha256}`. */
  readonly putFile: EndpointName;
  /** Store a file; the answer has its SHA-256. For clients that do not hash: `POST /files`. */
  readonly createFile: EndpointName;
  /** List the stored files, newest first: `GET /files`. */
  readonly listFiles: EndpointName;
  /** Read size, type and name of a file, with a link to its content: `GET /files/{fileId}`. */
  readonly getFile: EndpointName;
  /** Read the content of a file, or a range of it: `GET /files/{fileId}/content`. */
  readonly getFileContent: EndpointName;
  /** Delete a file: `DELETE /files/{fileId}`. */
  readonly deleteFile: EndpointName;
  /** Create the treasury of the account or of your agent; returns the existing one if there is one: `POST /payments/treasury`. */
  readonly createTreasury: EndpointName;
  /** Deposit USDC into a treasury: 402 with terms, credited when paid: `POST /payments/treasury/deposit`. */
  readonly depositToTreasury: EndpointName;
  /** Add test USDC to the account's treasury: in local mode, and on test networks whose node has a faucet; elsewhere 404: `POST /payments/test-funds`. */
  readonly addTestFunds: EndpointName;
  /** Read the balances of the treasuries of the account: `GET /payments/balance`. */
  readonly getBalance: EndpointName;
  /** Set the balance below which the event `balance.low` is sent, once until there is enough again: `PUT /payments/balance/alert`. */
  readonly setBalanceAlert: EndpointName;
  /** List the payments of the account, newest first: `GET /payments/history`. */
  readonly listPayments: EndpointName;
  /** Send USDC from a treasury to a wallet on chain: the owner's, unless another is named: `POST /payments/withdraw`. */
  readonly withdraw: EndpointName;
  /** Request the text that the wallet signs for a withdrawal by session: valid for five minutes, once, for these values only: `POST /payments/withdraw/challenge`. */
  readonly requestWithdrawal: EndpointName;
  /** Read your withdrawal: `GET /payments/withdrawals/{withdrawalId}`. */
  readonly getWithdrawal: EndpointName;
  /** Move the earnings of your agents, or of one of them, to the account's treasury: `POST /payments/collect`. */
  readonly collectEarnings: EndpointName;
  /** List payouts that the token refuses: withdrawals of the account, refunds to its wallets or for its requests; for an operator, of all accounts: `GET /payments/held`. */
  readonly listHeldPayouts: EndpointName;
  /** End a held payout by crediting it here: a withdrawal to its treasury, a refund to the treasury of the account that has proven the wallet, otherwise to the wallet itself (POST /payments/claims). Withdraw it to another address after that: `POST /payments/held/{paymentId}/credit`. */
  readonly creditHeldPayout: EndpointName;
  /** Read your treasury: `GET /payments/treasury/{treasuryId}`. */
  readonly getTreasury: EndpointName;
  /** Read the statement of a treasury: every entry of a period with the balance after it: `GET /payments/treasury/{treasuryId}/statement`. */
  readonly getStatement: EndpointName;
  /** Proof of reserves: the node's liabilities, and the balance of its wallet and its channels on chain: `GET /payments/reserves`. */
  readonly getReserves: EndpointName;
  /** List the networks that the node is paid on, the default one first: `GET /payments/networks`. */
  readonly listPaymentNetworks: EndpointName;
  /** Claim the USDC that your wallet sent to the node by a plain transfer: request a challenge, then send it signed: `POST /payments/claims`. */
  readonly claimWallet: EndpointName;
  /** List payment channels that your wallets have opened here, newest first: `GET /payments/channels`. */
  readonly listChannels: EndpointName;
  /** Read your payment channel: balance, charges, claims, withdrawal: `GET /payments/channels/{channelId}`. */
  readonly getChannel: EndpointName;
  /** List deposits into your payment channel, its refunds, and claims of the last month, newest first: `GET /payments/channels/{channelId}/history`. */
  readonly listChannelHistory: EndpointName;
  /** List calls that vouchers of your payment channel paid for, highest voucher first, kept as long as results: `GET /payments/channels/{channelId}/charges`. */
  readonly listChannelCharges: EndpointName;
  /** Request the text that a wallet signs to sign in; valid for five minutes, and for one sign-in: `POST /auth/challenge`. */
  readonly requestSignIn: EndpointName;
  /** Sign in with a wallet: the signed challenge creates the wallet's account if necessary, and returns an API key: `POST /auth/sign-in`. */
  readonly signIn: EndpointName;
  /** Sign in with a browser: the signed challenge creates the wallet's account if necessary, and sets the session cookie: `POST /auth/session`. */
  readonly createSession: EndpointName;
  /** Sign in as local mode's own account, without a wallet; only from the node's machine: `POST /auth/session/local`. */
  readonly createLocalSession: EndpointName;
  /** Read the session of this browser, and the requirements of signing in: `GET /auth/session`. */
  readonly getSession: EndpointName;
  /** Sign out: the session of the cookie ends at once, and the cookie is cleared: `DELETE /auth/session`. */
  readonly endSession: EndpointName;
  /** List the active sessions of the account, newest first: `GET /auth/sessions`. */
  readonly listSessions: EndpointName;
  /** End a session of the account at once: `DELETE /auth/sessions/{sessionId}`. */
  readonly endSessionById: EndpointName;
  /** Sign out everywhere: every session of the account ends at once, this one included: `DELETE /auth/sessions`. */
  readonly endAllSessions: EndpointName;
  /** Read the account that the key belongs to: `GET /account`. */
  readonly getAccount: EndpointName;
  /** List the API keys of the account: `GET /account/keys`. */
  readonly listApiKeys: EndpointName;
  /** Create an API key; its secret is shown in this answer only: `POST /account/keys`. */
  readonly createApiKey: EndpointName;
  /** Revoke an API key at once: `DELETE /account/keys/{keyId}`. */
  readonly revokeApiKey: EndpointName;
  /** Replace an API key by a new one with the same rights; the old one stays valid for a while: `POST /account/keys/{keyId}/roll`. */
  readonly rollApiKey: EndpointName;
  /** Read the account's remaining limits, and its use by day and by agent: `GET /account/usage`. */
  readonly getUsage: EndpointName;
  /** Read the audit log: changes of the last 400 days with caller and network address, newest first: `GET /account/audit`. */
  readonly listAudit: EndpointName;
  /** Read which first steps the account has taken, as a buyer and as a seller: `GET /account/progress`. */
  readonly getProgress: EndpointName;
  /** Read the account's spending, earnings and calls, in total and over time: `GET /account/overview`. */
  readonly getOverview: EndpointName;
  /** List your agents in any state, newest first, with their earnings: `GET /account/agents`. */
  readonly listOwnAgents: EndpointName;
  /** List or stream the events of the account in order, instead of webhooks: `GET /events`. */
  readonly listEvents: EndpointName;
  /** List the webhook endpoints of the account: `GET /account/webhooks`. */
  readonly listWebhooks: EndpointName;
  /** Create a webhook endpoint: events are sent to your URL: `POST /account/webhooks`. */
  readonly createWebhook: EndpointName;
  /** Change the URL, event types or status of an endpoint: `PUT /account/webhooks/{webhookId}`. */
  readonly updateWebhook: EndpointName;
  /** Delete a webhook endpoint: `DELETE /account/webhooks/{webhookId}`. */
  readonly deleteWebhook: EndpointName;
  /** Read the signing secret of an endpoint; `account` as the id: the secret for `webhookUrl` of single requests: `GET /account/webhooks/{webhookId}/secret`. */
  readonly getWebhookSecret: EndpointName;
  /** Replace the signing secret; for 24 hours deliveries are signed with both: `POST /account/webhooks/{webhookId}/rotate`. */
  readonly rotateWebhookSecret: EndpointName;
  /** Send a test event now and return the outcome: `POST /account/webhooks/{webhookId}/test`. */
  readonly testWebhook: EndpointName;
  /** List the deliveries to an endpoint with every attempt, newest first; `account` as the id: to `webhookUrl`s: `GET /account/webhooks/{webhookId}/deliveries`. */
  readonly listDeliveries: EndpointName;
  /** Resend one delivery, all since a time, or all that failed, with the same ids: `POST /account/webhooks/{webhookId}/replay`. */
  readonly replayWebhook: EndpointName;
  /** Read this node, the nodes that it knows, and its progress in the shared registry: `GET /network`. */
  readonly getNetwork: EndpointName;
  /** List the registration files of this node's agents in the registry, by last change: `GET /network/agents`. */
  readonly listNetworkAgents: EndpointName;
  /** Read what is missing for a node that others can rely on: address, gas, backup, processes, alerts, terms, fee: `GET /operator/checklist`. */
  readonly getOperatorChecklist: EndpointName;
  /** Read the settings in force, without secrets: `GET /operator/settings`. */
  readonly getOperatorSettings: EndpointName;
  /** Read totals of the node: accounts, agents, calls, volume, fees; at most a minute old: `GET /operator/totals`. */
  readonly getOperatorTotals: EndpointName;
  /** Read the status of the node: processes, queues, settlements, reserves, gas, index, database: `GET /operator/status`. */
  readonly getOperatorStatus: EndpointName;
  /** Any invocation: reason of its end, refund, timeline, payments, deliveries, open work: `GET /operator/invocations/{id}`. */
  readonly getOperatorInvocation: EndpointName;
  /** List the accounts of the node with calls, amounts and last use, newest first or by one of these: `GET /operator/accounts`. */
  readonly listOperatorAccounts: EndpointName;
  /** Read an account: plan, use of its limits, money, and changes by operators: `GET /operator/accounts/{accountId}`. */
  readonly getOperatorAccount: EndpointName;
  /** Set the plan of an account: `PUT /operator/accounts/{accountId}/plan`. */
  readonly setAccountPlan: EndpointName;
  /** Suspend an account: it starts nothing new, its agents are not called, and its money stays its own: `POST /operator/accounts/{accountId}/suspend`. */
  readonly suspendAccount: EndpointName;
  /** End the suspension of an account: `POST /operator/accounts/{accountId}/resume`. */
  readonly resumeAccount: EndpointName;
  /** Payment channels of the node: open ones, what is not claimed, withdrawals of payers: `GET /operator/channels`. */
  readonly getOperatorChannels: EndpointName;
  /** List claims of vouchers and refunds of channels, newest first: transaction, gas, outcome: `GET /operator/claims`. */
  readonly listOperatorClaims: EndpointName;
}

/** Every code of an error. */
export const wireErrorCodes: readonly ErrorCode[] = ["VALIDATION_ERROR","UNAUTHORIZED","PAYMENT_REQUIRED","FORBIDDEN","SPENDING_LIMIT_EXCEEDED","NOT_FOUND","CONFLICT","INPUT_ALREADY_ANSWERED","INPUT_NOT_REQUIRED","INPUT_EXPIRED","GONE","FILE_GONE","STORAGE_LIMIT_EXCEEDED","LENGTH_REQUIRED","PAYLOAD_TOO_LARGE","DIGEST_MISMATCH","INSUFFICIENT_FUNDS","NO_AGENT_FITS","FILE_NOT_FOUND","IDEMPOTENCY_KEY_REUSED","INSUFFICIENT_BALANCE","RATE_LIMITED","INTERNAL_ERROR","AGENT_UNAVAILABLE","PAYMENT_PENDING","UNAVAILABLE"];
