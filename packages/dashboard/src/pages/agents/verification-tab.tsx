import type { OwnAgent } from '@agent-network/contracts/invocations/figures';
import { useApi } from '../../app/api-query.ts';
import { Card } from '../../ui/layout/card.tsx';
import { FactRow } from '../../ui/layout/fact-row.tsx';
import { Steps } from '../../ui/layout/steps.tsx';
import { badgeClass } from '../../ui/values/badge.tsx';
import { TimeAgo } from '../../ui/values/time-ago.tsx';
import { ChainEntry } from './chain-entry.tsx';
import { protocolNames } from './protocol-names.ts';
import { ProveEndpoint } from './prove-endpoint.tsx';
import { ProveWallet } from './prove-wallet.tsx';
import { isComplete } from './verification.ts';

/** Polling interval until all is proven, as some steps of the node and the chain have no event. */
const PROVING_MS = 4000;

/** Live state of an agent's proofs, with the steps for the missing ones. */
export function VerificationTab({ agent }: { agent: OwnAgent }) {
  const { endpointProvenAt, walletProvenAt, tokenId } = agent.verification;
  const call = { params: { id: agent.id } };
  const { data: identity } = useApi('getIdentity', call);
  const often = { enabled: !isComplete(agent, identity), refetchIntervalMs: PROVING_MS };
  useApi('getIdentity', call, often);
  useApi('listOwnAgents', { query: { agentId: agent.id } }, often);
  return (
    <div className="space-y-5">
      <Card title="Verification">
        <Steps
          label="Verification"
          steps={[
            {
              title: 'Verify the endpoint',
              isDone: endpointProvenAt !== null,
              aside: endpointProvenAt && (
                <>
                  proven <TimeAgo at={endpointProvenAt} />
                </>
              ),
              content: <ProveEndpoint agent={agent} />,
            },
            {
              title: "Verify the owner's wallet",
              isDone: walletProvenAt !== null,
              aside: walletProvenAt && (
                <>
                  proven <TimeAgo at={walletProvenAt} />
                </>
              ),
              content: walletProvenAt === null && <ProveWallet agentId={agent.id} owner={identity?.owner} />,
            },
            {
              title: 'Register on chain (ERC-8004)',
              isDone: tokenId !== null,
              aside: tokenId !== null && `token ${tokenId}`,
              content: identity && <ChainEntry agent={agent} identity={identity} />,
            },
          ]}
        />
      </Card>
      <UpstreamCard agent={agent} />
    </div>
  );
}

const Code = ({ text }: { text: string }) => <span className="font-mono text-[13px] wrap-anywhere">{text}</span>;

/** Settings by which the node calls the agent; only its owner sees them. */
const UpstreamCard = ({ agent: { endpoint, protocol, upstream } }: { agent: OwnAgent }) => {
  const headers = Object.keys(upstream.headers);
  return (
    <Card title="How it is called">
      <dl>
        <FactRow label="Protocol">{protocolNames[protocol]}</FactRow>
        <FactRow label="Endpoint">
          <span title={endpoint} className="font-mono text-[13px]">
            {endpoint}
          </span>
        </FactRow>
        {protocol === 'mcp' && <FactRow label="Tool">{upstream.tool ?? 'the only one of the server'}</FactRow>}
        {protocol === 'openai' && <FactRow label="Model">{upstream.model}</FactRow>}
        {protocol === 'http-template' && (
          <>
            <FactRow label="Request">
              <Code text={`${upstream.method} ${upstream.path}`} />
            </FactRow>
            {upstream.body != null && (
              <FactRow label="Body">
                <Code text={upstream.body} />
              </FactRow>
            )}
            <FactRow label="Result">{upstream.result ? <Code text={upstream.result} /> : 'the whole answer'}</FactRow>
          </>
        )}
        {headers.length > 0 && (
          <FactRow label="Headers">
            <span className="flex flex-wrap justify-end gap-1">
              {headers.map((name) => (
                <span key={name} className={badgeClass('neutral')}>
                  {name}
                </span>
              ))}
            </span>
          </FactRow>
        )}
      </dl>
      {headers.length > 0 && (
        <p className="mt-2 text-[13px] text-muted">Values of headers are stored encrypted and never shown.</p>
      )}
    </Card>
  );
};
