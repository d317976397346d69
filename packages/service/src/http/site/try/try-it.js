// "Try it" on the page of an agent: runs it for a visitor, free or paid by a wallet of the browser. Without this the form leads to the dashboard.

import { answerQuestion, awaitEnd, paymentHeader, readReceipt, startCall, termsOf, usdcOf } from './ask-node.js';
import { clearOptional, inputOf, restore, valuesOf } from './fields.js';
import { filesView } from './files.js';
import { questionView } from './question.js';
import { answerView, button, element, quoteView, save } from './view.js';
import { signPayment, wallets } from './wallet.js';

const form = document.getElementById('try-form');
const said = document.getElementById('try-said');
const shown = document.getElementById('try-shown');
const submit = form.querySelector('button[type=submit]');
const { agent: agentId, network, usdc, networkName, signIn, testFunds } = form.dataset;
const chainId = Number(network.split(':')[1]);

const slot = `try ${agentId}`;

function stored() {
  try {
    return JSON.parse(sessionStorage.getItem(slot));
  } catch {
    return null;
  }
}

/**
 * The call of this tab, kept over a reload: what was asked under which key, its signed payment, and then its id and the token that reads it.
 * null: none yet. A browser that stores nothing still runs calls.
 */
let kept = stored();

function keep(call) {
  kept = call;
  try {
    sessionStorage.setItem(slot, JSON.stringify(call));
  } catch {
    // Storage is full or forbidden.
  }
}

let isBusy = false;

function say(text, kind = '') {
  said.textContent = text;
  said.className = kind;
}

/** Buttons stay in the order of Tab while something runs: one that is disabled would lose the focus. */
function setBusy(now) {
  isBusy = now;
  submit.setAttribute('aria-disabled', String(now));
  for (const each of shown.querySelectorAll('button')) each.setAttribute('aria-disabled', String(now));
}

/** One thing at a time; what fails is said. */
async function busy(work) {
  if (isBusy) return;
  setBusy(true);
  try {
    await work();
  } catch (error) {
    say(error.message, 'note bad');
  } finally {
    setBusy(false);
  }
}

const failureOf = ({ code, message }) =>
  code === 'RATE_LIMITED' && signIn ? `${message} Sign in for a limit of your own, or try again later.` : message;

function showQuote(call, answer) {
  const quote = { ...termsOf(answer, { network, usdc }), chainId, networkName };
  const { offer } = quote;
  const onPay = (wallet) => busy(() => pay(call, quote, wallet));
  const signInUrl = signIn && `${signIn}&${new URLSearchParams({ task: call.body.task })}`;
  const amount = usdcOf(offer.amount);
  const onTest = Number(amount) <= Number(testFunds) ? () => busy(() => run({ ...call, isTest: true })) : null;
  const ways = { wallets: wallets(), signInUrl, onPay, onTest };
  shown.replaceChildren(quoteView({ amount, networkName, payTo: offer.payTo, ...ways }));
  say(`This call costs ${amount} USDC. Nothing is paid yet.`);
}

async function pay(call, quote, wallet) {
  const signed = await signPayment(wallet, quote, usdcOf, say);
  await run({ ...call, payment: paymentHeader(quote, signed) });
}

const isPaid = ({ payment, isTest }) => Boolean(payment || isTest);

/** The answer was lost, and the call may run: it is asked for again with the same key and payment, or given up, before another one begins. */
function showLost(call) {
  const text = 'The node gave no clear answer.';
  say(isPaid(call) ? `${text} Your payment is for this one call: asking again never pays twice.` : text, 'note bad');
  const again = button('Ask again', () => busy(() => run(call)));
  const leave = button('Give up', () => busy(() => leaveLost(call)), 'plain');
  shown.replaceChildren(element('div', { className: 'row' }, again, leave));
}

function leaveLost(call) {
  giveUp(call);
  say(isPaid(call) ? 'You gave this call up. It may have been made and paid.' : 'You gave this call up.');
}

/** Starts the call, or finds it when it was started before. */
async function run(call) {
  keep(call);
  say(isPaid(call) ? 'Paying, and running the agent …' : 'Asking the node …');
  const answer = await startCall(call);
  if (!answer) return showLost(call);
  if (answer.status === 402) return refusedOrQuoted(call, answer);
  if (answer.error) {
    // Beyond a limit nothing was collected: the payment stays good for a while.
    if (answer.status === 429 && call.payment) showLost(call);
    else giveUp(call);
    throw new Error(failureOf(answer.error));
  }
  const { requestId, resultToken, answerToken } = answer.data;
  const begun = { ...call, requestId, resultToken, answerToken };
  keep(begun);
  await finish(begun);
}

/** What was typed stays; the call is not asked for again by a reload. */
function giveUp({ values }) {
  keep({ values });
  shown.replaceChildren();
}

/** A payment that is refused was not collected: the next one is for new terms. */
function refusedOrQuoted({ payment, isTest: _, ...call }, answer) {
  keep(call);
  showQuote(call, answer);
  if (payment) throw new Error(`The payment was refused, and nothing was paid: ${answer.error.message}`);
}

async function finish(call) {
  shown.replaceChildren();
  if (!call.resultToken) throw new Error('The call was made, but its result is for its caller alone.');
  say('The agent is running …');
  const answer = await awaitEnd(call);
  if (answer.error) throw new Error(answer.error.message);
  if (answer.data.inputRequest) return showQuestion(call, answer.data.inputRequest);
  const receipt = button('Save the signed receipt', () => busy(() => saveReceipt(call)), 'plain');
  const files = filesView(call, answer.data.result, busy);
  shown.replaceChildren(answerView(answer.data, { chainId, receipt, files }));
  shown.scrollIntoView({ block: 'nearest' });
  const isDone = answer.data.status === 'completed';
  say(isDone ? 'Done.' : 'The agent gave no answer.');
}

/** The question is over, by whoever answered it or by its time: the call goes on. */
const isOver = ({ code }) => ['INPUT_ALREADY_ANSWERED', 'INPUT_NOT_REQUIRED', 'INPUT_EXPIRED'].includes(code);

function showQuestion(call, question) {
  const { inputId } = question;
  const onAnswer = (given) =>
    busy(async () => {
      const answer = await answerQuestion(call, { inputId, ...given() });
      if (!answer) throw new Error('The node gave no clear answer. Send it again: it counts once.');
      if (answer.error && !isOver(answer.error)) throw new Error(answer.error.message);
      const answered = { ...call, answeredId: inputId };
      keep(answered);
      await finish(answered);
    });
  shown.replaceChildren(questionView(question, onAnswer));
  say('The agent asks you something. Your call waits for the answer.');
}

async function saveReceipt(call) {
  const answer = await readReceipt(call);
  if (answer.error) throw new Error(answer.error.message);
  save(`receipt-${call.requestId}.json`, JSON.stringify(answer.data, null, 2), 'application/json');
  say('The receipt is saved.');
}

const randomKey = () => Array.from(crypto.getRandomValues(new Uint32Array(4)), (part) => part.toString(36)).join('-');

form.addEventListener('submit', (event) => {
  event.preventDefault();
  busy(async () => {
    // Another call now could be paid beside the one whose outcome is unknown.
    if (kept && isPaid(kept) && !kept.requestId) return showLost(kept);
    shown.replaceChildren();
    const body = { task: form.task.value, interactive: true, ...inputOf(form) };
    await run({ agentId, body, values: valuesOf(form), key: randomKey() });
  });
});

for (const link of document.querySelectorAll('.questions a'))
  link.addEventListener('click', (event) => {
    event.preventDefault();
    form.task.value = link.dataset.task;
    clearOptional(form);
    form.task.focus();
  });

if (kept) {
  restore(form, kept.values);
  if (kept.requestId) busy(() => finish(kept));
  else if (kept.body) busy(() => run(kept));
}
