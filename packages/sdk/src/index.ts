export type { StreamEvent } from '@agent-network/contracts/invocations/stream-events';
export { AgentError } from './agent/agent-error.ts';
export { type HeartbeatReport, sendHeartbeat } from './agent/send-heartbeat.ts';
export { ApiError, isApiError, NoAnswerError, type PaymentHeaders, SecretShownError } from './api-error.ts';
export type { ChannelOptions, OpenChannel } from './channels/channel-payer.ts';
export type { PaidAnswer } from './channels/channel-payments.ts';
export { type ChannelStorage, memoryStorage } from './channels/channel-storage.ts';
export type { ClosedChannel } from './channels/close-channels.ts';
export { type Withdrawal, withdrawalOf } from './channels/withdraw-channel.ts';
export { type ClientOptions, createClient } from './client.ts';
export type { CallOf, CallOptions, Client, InvokeStreamingOptions, StreamOptions } from './client-types.ts';
export {
  type InputAnswer,
  InputRequiredError,
  InvocationFailedError,
  InvocationTimeoutError,
  InvocationUnknownError,
  invokeAndWait,
  mayHaveHappened,
  type OnInput,
  type WaitOptions,
} from './invoke-and-wait.ts';
export { type ChannelPayer, createPayer, type Payer, type PayerOptions } from './payer.ts';
export type { PayerSigner } from './payer-signer.ts';
export { PaymentRefusedError, type RefusalReason } from './payment-refused-error.ts';
export {
  hashOfJson,
  type InvocationReceipt,
  type ReceiptExpectation,
  type ReceiptRefusal,
  ReceiptVerificationError,
  type SignedReceipt,
  verifyReceipt,
} from './receipts.ts';
export {
  verifyWebhook,
  type WebhookEvent,
  type WebhookMessage,
  type WebhookRefusal,
  WebhookVerificationError,
} from './webhooks.ts';
