import { REGISTRATION_TYPE } from '@agent-network/contracts/agents/registration';
import { newOwner } from '../../../support/registry-actions.ts';

const letters = '0123456789abcdefghjkmnpqrstvwxyz';
/** A new agent id of some other node, which does not name its home. */
export const otherAgentId = (): string =>
  `agt_0${Array.from({ length: 25 }, () => letters[Math.floor(Math.random() * 32)]).join('')}`;

const OURS = 'eip155:84532:0x8004a818bfb912233c491871b3d84c89a494bd9e';
export const registration = (tokenId: string, agentRegistry = OURS) => ({ agentId: Number(tokenId), agentRegistry });

export interface FileOfNode {
  readonly baseUrl: string;
  readonly tokenId: string;
}

/** A good file of a node. */
export const nodeFile = ({ baseUrl, tokenId }: FileOfNode) => ({
  type: REGISTRATION_TYPE,
  name: 'A node',
  description: '',
  registrations: [registration(tokenId)],
  agentNetwork: { kind: 'node', baseUrl, label: 'hostile', version: '1', wallet: newOwner() },
});

/** A good file of an agent. */
export const agentFile = ({
  baseUrl,
  tokenId,
  id,
  owner,
  idSalt,
}: FileOfNode & { id: string; owner: string; idSalt?: string }) => ({
  type: REGISTRATION_TYPE,
  name: 'Parrot',
  description: 'Repeats.',
  active: true,
  registrations: [registration(tokenId)],
  agentNetwork: {
    kind: 'agent',
    id,
    ...(idSalt === undefined ? {} : { idSalt }),
    nodeUrl: baseUrl,
    owner,
    capabilities: ['talking'],
    rates: { perRequest: '0.01', perHour: '0.01', tiers: {} },
    metadata: {},
    verified: true,
    status: 'online',
    responseMs: 1,
    createdAt: '2026-01-01T00:00:00.000Z',
    updatedAt: '2026-01-01T00:00:00.000Z',
  },
});
