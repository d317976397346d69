// Browser wallets (EIP-1193), as far as one payment needs them.

const REFUSED = 4001;
const UNKNOWN_CHAIN = 4902;
const BUSY = -32002;
const BALANCE_OF = '0x70a08231';
const EARLIER_S = 600;

const found = [];

addEventListener('eip6963:announceProvider', ({ detail }) => {
  const { info, provider } = detail ?? {};
  const isKnown = found.some(({ id }) => id === info?.uuid);
  if (typeof info?.name !== 'string' || typeof provider?.request !== 'function' || isKnown) return;
  found.push({ id: info.uuid, name: info.name.slice(0, 60), provider });
});

/** The wallets of this browser, as they tell of themselves (EIP-6963), or the one that older wallets put into the page. */
export function wallets() {
  dispatchEvent(new Event('eip6963:requestProvider'));
  if (found.length > 0) return found;
  const { ethereum } = globalThis;
  return typeof ethereum?.request === 'function' ? [{ id: '', name: 'your wallet', provider: ethereum }] : [];
}

function inWords(error) {
  if (error?.code === REFUSED) return new Error('You declined in the wallet. Nothing was signed or paid.');
  if (error?.code === BUSY) return new Error('The wallet is waiting for your answer in its own window.');
  return new Error(`The wallet failed: ${error?.message ?? 'it gave no reason'}. Nothing was paid.`);
}

const ask = ({ provider }, method, params) =>
  provider.request(params ? { method, params } : { method }).catch((error) => {
    throw inWords(error);
  });

async function connect(wallet) {
  const [address] = (await ask(wallet, 'eth_requestAccounts')) ?? [];
  if (!/^0x[0-9a-f]{40}$/i.test(address ?? '')) throw new Error('The wallet gave no account.');
  return address;
}

/** A wallet signs payments for the chain that it is on only. */
async function switchTo(wallet, { chainId, networkName }) {
  const isThere = async () => Number(await ask(wallet, 'eth_chainId')) === chainId;
  if (await isThere()) return;
  const params = [{ chainId: `0x${chainId.toString(16)}` }];
  const code = await wallet.provider.request({ method: 'wallet_switchEthereumChain', params }).then(
    () => null,
    (error) => error?.code,
  );
  if (await isThere()) return;
  throw new Error(
    code === UNKNOWN_CHAIN
      ? `The wallet does not have the network ${networkName} (chain ${chainId}). Add it to the wallet, then pay again. Nothing was signed.`
      : `The wallet is on another network. Switch it to ${networkName} (chain ${chainId}), then pay again. Nothing was signed.`,
  );
}

/** What the wallet cannot pay is not signed. Where it cannot read the chain the node has the last word. */
async function requireFunds(wallet, address, { asset, amount, inUsdc }) {
  const data = `${BALANCE_OF}${address.slice(2).toLowerCase().padStart(64, '0')}`;
  const call = { method: 'eth_call', params: [{ to: asset, data }, 'latest'] };
  const answer = await wallet.provider.request(call).catch(() => null);
  if (!/^0x[0-9a-f]{1,64}$/i.test(answer ?? '') || BigInt(answer) >= BigInt(amount)) return;
  throw new Error(
    `The wallet ${address} holds ${inUsdc(BigInt(answer))} USDC, and this costs ${inUsdc(amount)} USDC. Send USDC to it, then pay again. Nothing was signed.`,
  );
}

const typesOf = (name, fields) => ({ [name]: Object.entries(fields).map(([field, type]) => ({ name: field, type })) });

/** The text that the wallet shows and signs (EIP-712): a transfer of USDC that only this node can collect (EIP-3009). */
function transferText({ offer, nowS, chainId }, from) {
  const random = crypto.getRandomValues(new Uint8Array(32));
  const made = `0x${Array.from(random, (byte) => byte.toString(16).padStart(2, '0')).join('')}`;
  const authorization = {
    from,
    to: offer.payTo,
    value: offer.amount,
    validAfter: String(nowS - EARLIER_S),
    validBefore: String(nowS + offer.maxTimeoutSeconds),
    // The node's own nonce binds the payment to this purchase.
    nonce: /^0x[0-9a-f]{64}$/.test(offer.extra.nonce ?? '') ? offer.extra.nonce : made,
  };
  const types = {
    ...typesOf('EIP712Domain', { name: 'string', version: 'string', chainId: 'uint256', verifyingContract: 'address' }),
    ...typesOf('TransferWithAuthorization', {
      ...{ from: 'address', to: 'address', value: 'uint256' },
      ...{ validAfter: 'uint256', validBefore: 'uint256', nonce: 'bytes32' },
    }),
  };
  const { name, version } = offer.extra;
  const domain = { name, version, chainId, verifyingContract: offer.asset };
  return {
    authorization,
    text: JSON.stringify({ types, primaryType: 'TransferWithAuthorization', domain, message: authorization }),
  };
}

/** Has a wallet sign the payment of an offer; what happens is told to `say`. Throws in words, with nothing signed. */
export async function signPayment(wallet, { offer, nowS, chainId, networkName }, inUsdc, say) {
  say('Connecting to the wallet …');
  const address = await connect(wallet);
  await switchTo(wallet, { chainId, networkName });
  await requireFunds(wallet, address, { asset: offer.asset, amount: offer.amount, inUsdc });
  const { authorization, text } = transferText({ offer, nowS, chainId }, address);
  say(`Confirm ${inUsdc(offer.amount)} USDC in the wallet …`);
  const signature = await ask(wallet, 'eth_signTypedData_v4', [address, text]);
  return { authorization, signature };
}
