// Calls of the node from a public page. Without cookies: who tries an agent here is a visitor, also when signed in to the dashboard.

const WAITS_MS = [500, 1000, 2000, 4000];
const FIRST_LOOK_MS = 300;
const MAX_MS = 3000;

const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

async function ask(path, { method = 'GET', headers = {}, body } = {}) {
  const answer = await fetch(path, { method, headers, body, credentials: 'omit', cache: 'no-store' });
  const json = await answer.json();
  return { status: answer.status, headers: answer.headers, data: json.data, error: json.error };
}

/** True when the node may know more if it is asked again. An agent that is away stays so for a while. */
const isUnclear = ({ status, error }) => status >= 500 && error?.code !== 'AGENT_UNAVAILABLE';

/**
 * Starts a call, or finds it again. The same call is asked for with the same key and payment however often its answer is lost, so it runs and
 * is paid once. null: no clear answer came.
 */
export async function startCall({ agentId, body, key, payment, isTest }) {
  const headers = { 'content-type': 'application/json', 'idempotency-key': key };
  if (payment) headers['payment-signature'] = payment;
  if (isTest) headers['x-payment-method'] = 'test_funds';
  return askUntilClear(`/x402/${agentId}`, { method: 'POST', headers, body: JSON.stringify(body) });
}

async function askUntilClear(path, call) {
  for (let at = 0; ; at += 1) {
    const answer = await ask(path, call).catch(() => null);
    if (answer && !isUnclear(answer)) return answer;
    if (at === WAITS_MS.length) return null;
    await pause(WAITS_MS[at]);
  }
}

const isAsked = ({ inputRequest }, answeredId) => inputRequest !== undefined && inputRequest.inputId !== answeredId;

const hasEnded = ({ status }) => status === 'completed' || status === 'failed' || status === 'cancelled';

/**
 * The record of a call once it has ended, or asks what was not answered yet, however long the node cannot be reached; an answer that is an
 * error when it cannot be read.
 */
export async function awaitEnd({ requestId, resultToken, answeredId }) {
  for (let waitMs = FIRST_LOOK_MS; ; waitMs = Math.min(MAX_MS, waitMs * 1.5)) {
    const answer = await ask(`/invoke/${requestId}`, { headers: { 'x-result-token': resultToken } }).catch(() => null);
    if (answer?.data && (hasEnded(answer.data) || isAsked(answer.data, answeredId))) return answer;
    const isRefused = answer?.error && answer.status < 500 && answer.status !== 429;
    if (isRefused) return answer;
    await pause(answer?.status === 429 ? 1000 * (Number(answer.headers.get('retry-after')) || 30) : waitMs);
  }
}

/** Answers a question of the call's agent. Sent again it counts once. null: no clear answer came. */
export async function answerQuestion({ requestId, answerToken }, given) {
  const headers = { 'content-type': 'application/json', 'x-answer-token': answerToken };
  return askUntilClear(`/invoke/${requestId}/input`, { method: 'POST', headers, body: JSON.stringify(given) });
}

export const readReceipt = ({ requestId, resultToken }) =>
  ask(`/invoke/${requestId}/receipt`, { headers: { 'x-result-token': resultToken } });

/** Content of a file of the call's result. Throws when it cannot be read. */
export async function readFile({ requestId, resultToken }, fileId) {
  const path = `/files/${fileId.replace('sha256:', '')}/content?${new URLSearchParams({ request: requestId })}`;
  const headers = { 'x-result-token': resultToken };
  const answer = await fetch(path, { headers, credentials: 'omit', cache: 'no-store' });
  if (!answer.ok) throw new Error((await answer.json()).error?.message ?? 'The file cannot be read.');
  return answer.arrayBuffer();
}

/** The node's clock, in seconds: the payment's validity is judged by it. */
const nowOf = ({ headers }) => Math.floor((Date.parse(headers.get('date') ?? '') || Date.now()) / 1000);

/** What a 402 asks for: the offer to pay by one transfer in the node's token on its chain. Throws when there is none. */
export function termsOf(answer, { network, usdc }) {
  const bytes = Uint8Array.from(atob(answer.headers.get('payment-required') ?? ''), (each) => each.charCodeAt(0));
  const terms = JSON.parse(new TextDecoder().decode(bytes));
  const offer = terms.accepts.find(
    (each) =>
      each.scheme === 'exact' &&
      each.network === network &&
      each.asset.toLowerCase() === usdc.toLowerCase() &&
      (each.extra.assetTransferMethod ?? 'eip3009') === 'eip3009' &&
      /^[1-9]\d{0,18}$/.test(each.amount),
  );
  if (!offer) throw new Error('The node offers no way to pay that this page knows. Sign in to run the agent.');
  return { terms, offer, nowS: nowOf(answer) };
}

/** The header that shows a signed payment. */
export function paymentHeader({ terms, offer }, { signature, authorization }) {
  const payload = { x402Version: 2, resource: terms.resource, accepted: offer, payload: { signature, authorization } };
  const bytes = new TextEncoder().encode(JSON.stringify(payload));
  return btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(''));
}

/** USDC of an amount in its smallest unit. */
export function usdcOf(units) {
  const digits = String(units).padStart(7, '0');
  const fraction = digits.slice(-6).replace(/0{1,4}$/, '');
  return `${digits.slice(0, -6)}.${fraction}`;
}
