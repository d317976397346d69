/** Descriptions of audited calls; calls without one are shown by name. */
const texts: Readonly<Record<string, string>> = {
  registerAgent: 'Registered an agent',
  updateAgent: 'Changed an agent',
  removeAgent: 'Removed an agent',
  verifyIdentity: 'Had an agent verified',
  claimToken: 'Claimed the token of an agent',
  linkToken: 'Linked an agent to a token',
  updateIdentityMetadata: 'Changed metadata in the registry',
  createTreasury: 'Opened a treasury',
  withdraw: 'Withdrew money',
  claimWallet: 'Claimed a wallet',
  signIn: 'Signed in with a wallet, for a key',
  createSession: 'Signed in',
  createLocalSession: 'Signed in as the local account',
  endSession: 'Signed out',
  endSessionById: 'Ended a session',
  endAllSessions: 'Signed out everywhere',
  createApiKey: 'Created an API key',
  revokeApiKey: 'Revoked an API key',
  rollApiKey: 'Rolled an API key',
  createWebhook: 'Added a webhook',
  updateWebhook: 'Changed a webhook',
  deleteWebhook: 'Deleted a webhook',
  rotateWebhookSecret: 'Rotated the secret of a webhook',
  testWebhook: 'Sent a test to a webhook',
  replayWebhook: 'Replayed deliveries of a webhook',
  getWebhookSecret: 'Revealed the secret of a webhook',
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
