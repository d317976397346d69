// What the page shows of a call. Texts of others are set as text, never as markup.

const explorers = { 8453: 'https://basescan.org', 84532: 'https://sepolia.basescan.org' };

/** A node on one's own machine has a chain of its own under the id of a public one, which no explorer knows. */
const isOwnMachine = /^(localhost|127\.[\d.]+|\[::1\])$/.test(location.hostname);

export function element(name, properties = {}, ...children) {
  const made = Object.assign(document.createElement(name), properties);
  made.append(...children.filter((each) => each !== null));
  return made;
}

export function button(text, onClick, className = '') {
  const made = element('button', { type: 'button', className, textContent: text });
  made.addEventListener('click', onClick);
  return made;
}

const row = ([name, value]) => element('div', {}, element('dt', {}, name), element('dd', {}, value));
const rows = (all) => element('dl', { className: 'rows' }, ...all.filter(([, value]) => value !== null).map(row));
const code = (text) => element('code', { className: 'break', textContent: text });

/** What a call costs, before anything is signed, and the ways to pay. */
export function quoteView({ amount, networkName, payTo, wallets, signInUrl, onPay, onTest }) {
  const test = onTest && button('Pay with test money', onTest);
  const pays = wallets.map((wallet) => button(`Pay with ${wallet.name}`, () => onPay(wallet)));
  const signIn = signInUrl && element('a', { href: signInUrl, textContent: 'Sign in' });
  return element(
    'section',
    { className: 'quote', ariaLabel: 'Payment' },
    element('h3', {}, 'What you pay'),
    rows([
      ['Amount', element('strong', {}, `${amount} USDC`)],
      ['Network', networkName],
      ['To this node', code(payTo)],
    ]),
    wallets.length === 0 ? element('p', {}, 'This browser has no wallet that pages can ask to pay.') : null,
    element('div', { className: 'row' }, test, ...pays),
    test ? element('p', { className: 'hint' }, 'This node has test money, and pays this call for you.') : null,
    element('p', { className: 'hint' }, 'One payment is one call. A call that fails is refunded.'),
    signIn ? element('p', { className: 'hint' }, signIn, ' to pay from a balance instead.') : null,
  );
}

const asText = (value) => (typeof value === 'string' ? value : JSON.stringify(value, null, 2));

function transaction(hash, chainId) {
  const base = isOwnMachine ? undefined : explorers[chainId];
  if (!hash) return null;
  return base ? element('a', { href: `${base}/tx/${hash}`, className: 'break', rel: 'noopener' }, hash) : code(hash);
}

/** A call that has ended. */
export function answerView(record, { chainId, receipt, files }) {
  const { status, result, error, cost, refund, duration, paymentHash, requestId } = record;
  const isDone = status === 'completed';
  const refunded = Number(refund ?? 0) > 0 ? `${refund} USDC` : null;
  return element(
    'section',
    { className: 'answer', ariaLabel: 'Answer' },
    element('h3', {}, isDone ? 'Answer' : 'No answer'),
    isDone
      ? element('pre', { tabIndex: 0, dir: 'auto', textContent: asText(result) })
      : element('p', { className: 'note bad', dir: 'auto' }, error?.message ?? `The call is ${status}.`),
    files,
    rows([
      ['Cost', Number(cost ?? 0) === 0 ? 'Free' : `${cost} USDC`],
      ['Refunded', refunded],
      ['Took', duration],
      ['Transaction', transaction(paymentHash, chainId)],
      ['Request', code(requestId)],
      ['Receipt', receipt],
    ]),
  );
}

/** Has the browser keep a content as a file. */
export function save(name, content, type) {
  const url = URL.createObjectURL(new Blob([content], { type }));
  element('a', { href: url, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}
