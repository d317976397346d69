/** Descriptions of audited calls; calls without one are shown by name. */
const texts: Readonly<Record<string, string>> = {
  registerAgent: 'Registered an agent',
  updateAgent: 'Changed an agent',
  removeAgent: 'Removed an agent',
  verifyIdentity: 'Verified an agent',
  claimToken: "Claimed an agent's token",
  linkToken: 'Linked an agent to a token',
  updateIdentityMetadata: 'Changed metadata in the registry',
  createTreasury: 'Opened a treasury',
  withdraw: 'Withdrew funds',
  claimWallet: 'Claimed a wallet',
  signIn: 'Signed in with a wallet to get a key',
  createSession: 'Signed in',
  createLocalSession: 'Signed in as the local account',
  endSession: 'Signed out',
  endSessionById: 'Ended a session',
  endAllSessions: 'Signed out everywhere',
  createApiKey: 'Created an API key',
  setAccountPlan: 'Set the plan of an account',
  suspendAccount: 'Suspended an account',
  resumeAccount: 'Resumed an account',
  revokeApiKey: 'Revoked an API key',
  rollApiKey: 'Rolled an API key',
  createWebhook: 'Added a webhook',
  updateWebhook: 'Changed a webhook',
  deleteWebhook: 'Deleted a webhook',
  rotateWebhookSecret: 'Rotated a webhook secret',
  testWebhook: 'Sent a test event to a webhook',
  replayWebhook: 'Replayed webhook deliveries',
  getWebhookSecret: 'Revealed a webhook secret',
};

export const auditText = (action: string): string => texts[action] ?? action;

const subjectNames: Readonly<Record<string, string>> = {
  agentId: 'agent',
  keyId: 'key',
  sessionId: 'session',
  treasuryId: 'treasury',
  tokenId: 'token',
  webhookId: 'webhook',
  deliveryId: 'delivery',
  withdrawalId: 'withdrawal',
};

export const subjectName = (kind: string): string => subjectNames[kind] ?? kind;
