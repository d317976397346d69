import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { x402Facilitator } from '@x402/core/facilitator';
import { x402HTTPResourceServer, x402ResourceServer } from '@x402/core/server';
import { toFacilitatorEvmSigner } from '@x402/evm';
import { BatchSettlementEvmScheme as ChannelFacilitator } from '@x402/evm/batch-settlement/facilitator';
import { BatchSettlementEvmScheme as ChannelServer } from '@x402/evm/batch-settlement/server';
import { createWalletClient, http, nonceManager, publicActions } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import { baseSepolia } from 'viem/chains';

type Hex = `0x${string}`;

const network = `eip155:${baseSepolia.id}` as const;

export interface ReferenceServerSettings {
  readonly rpcUrl: string;
  readonly usdc: Hex;
  readonly facilitatorKey: Hex;
  readonly receiverKey: Hex;
  readonly price: string;
}

/** The packages' own facilitator, in this process. */
function facilitatorOf({ rpcUrl, facilitatorKey }: ReferenceServerSettings) {
  const account = privateKeyToAccount(facilitatorKey, { nonceManager });
  const transport = http(rpcUrl);
  const wallet = createWalletClient({ account, chain: baseSepolia, transport, pollingInterval: 10 }).extend(
    publicActions,
  );
  const signer = toFacilitatorEvmSigner({ ...wallet, address: account.address } as Parameters<
    typeof toFacilitatorEvmSigner
  >[0]);
  const facilitator = new x402Facilitator().register(network, new ChannelFacilitator(signer));
  return {
    verify: facilitator.verify.bind(facilitator),
    settle: facilitator.settle.bind(facilitator),
    getSupported: async () => facilitator.getSupported(),
  };
}

const adapterOf = (request: IncomingMessage, path: string) => ({
  getHeader: (name: string) => {
    const value = request.headers[name.toLowerCase()];
    return Array.isArray(value) ? value[0] : value;
  },
  getMethod: () => request.method ?? '',
  getPath: () => path,
  getUrl: () => `http://${request.headers.host}${path}`,
  getAcceptHeader: () => 'application/json',
  getUserAgent: () => 'test',
});

/** A resource server as the x402 packages have it, with one route that is paid by channel. */
export async function startReferenceServer(settings: ReferenceServerSettings) {
  const receiver = privateKeyToAccount(settings.receiverKey);
  const scheme = new ChannelServer(receiver.address, {
    receiverAuthorizerSigner: receiver as never,
    withdrawDelay: 900,
  });
  const resources = new x402ResourceServer(facilitatorOf(settings) as never).register(network, scheme);
  const price = { asset: settings.usdc, amount: settings.price, extra: { name: 'USDC', version: '2' } };
  const accepts = { scheme: 'batch-settlement', network, price, payTo: receiver.address };
  const paid = new x402HTTPResourceServer(resources, { '/work': { accepts } });
  await paid.initialize();

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const path = '/work';
    const method = request.method ?? '';
    const context = { adapter: adapterOf(request, path), path, method };
    const judged = await paid.processHTTPRequest(context);
    if (judged.type === 'no-payment-required') return void response.writeHead(404).end();
    if (judged.type === 'payment-error') {
      response.writeHead(judged.response.status, judged.response.headers);
      return void response.end(JSON.stringify(judged.response.body ?? {}));
    }
    const { paymentPayload, paymentRequirements, beforeHandlerSettlement, declaredExtensions } = judged;
    const settled = await paid.processSettlement(
      paymentPayload,
      paymentRequirements,
      declaredExtensions,
      { request: context },
      undefined,
      beforeHandlerSettlement,
    );
    response.writeHead(settled.success ? 200 : 402, { ...settled.headers, 'content-type': 'application/json' });
    response.end(JSON.stringify({ status: 'success', data: { done: true } }));
  }

  const server = createServer((request, response) => {
    answer(request, response).catch((error: unknown) => response.writeHead(500).end(String(error)));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/work`,
    receiver,
    stop: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
