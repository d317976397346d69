import { z } from 'zod';
import { endpoint } from '../endpoint.ts';

/** CAIP-2 id of a network. */
export const NetworkId = z.string().meta({ examples: ['eip155:8453'] });
/** CAIP-19 id of a token. */
export const AssetId = z.string().meta({ examples: ['eip155:8453/erc20:0x833589fcd6edb6e08f4c7c32d4f71b54bda02913'] });

/** Names of an asset: its id, its network, and the symbol of its token. */
export const AssetName = z.object({
  asset: AssetId,
  network: NetworkId,
  symbol: z.string().meta({ examples: ['USDC'] }),
});
export type AssetName = z.infer<typeof AssetName>;

/** Chooses a network in a query. */
export const networkQuery = z
  .string()
  .max(200)
  .optional()
  .describe('A network by its CAIP-2 id or its name, or a token by its CAIP-19 id. Default: the default network.')
  .meta({ examples: ['eip155:42161'] });

export const networkStates = ['open', 'halted', 'no_gas', 'gas_cap', 'away', 'removed'] as const;

const Token = z.object({
  asset: AssetId.describe('CAIP-19 id.'),
  symbol: z.string().meta({ examples: ['USDC'] }),
  address: z.string(),
  decimals: z.literal(6),
  state: z.enum(networkStates).describe('State of payments in this token, as that of the network.'),
});

export const PaymentNetwork = z.object({
  id: NetworkId.describe('CAIP-2 id, as in x402 v2.'),
  name: z
    .string()
    .describe('Name in x402 v1, or its common name.')
    .meta({ examples: ['base'] }),
  isDefault: z.boolean().describe('The network of amounts that name none, and of the registries.'),
  tokens: z.array(Token).describe('Each worth one US dollar; prices are in USDC.'),
  schemes: z
    .array(z.string())
    .describe('Schemes of x402 that it can be paid by.')
    .meta({ examples: [['exact']] }),
  settlers: z.array(z.literal('own')).describe('Who sends payments; `own`: the node.'),
  state: z
    .enum(networkStates)
    .describe(
      '`open`: payments settle. `halted`: the token refuses the node. `no_gas`, `gas_cap`: the node cannot or may not spend gas now. `away`: the chain does not answer; what is owed there waits. `removed`: the node is not on it any more; its money can be read, and not moved.',
    ),
});
export type PaymentNetwork = z.infer<typeof PaymentNetwork>;

export const networkEndpoints = {
  listPaymentNetworks: endpoint({
    method: 'GET',
    path: '/payments/networks',
    summary: 'List the networks that the node is paid on, the default one first',
    tag: 'Payments',
    auth: 'none',
    isPublic: true,
    limit: 'api',
    data: z.object({ networks: z.array(PaymentNetwork) }),
    errors: [],
  }),
};
