import type { OwnAgent } from '@agent-network/contracts/invocations/figures';
import { Card } from '../../ui/layout/card.tsx';
import { FactRow } from '../../ui/layout/fact-row.tsx';
import { badgeClass } from '../../ui/values/badge.tsx';
import { protocolNames } from './protocol-names.ts';

/** Settings by which the node calls the agent; only its owner sees them. */
export const UpstreamCard = ({ agent: { endpoint, protocol, upstream } }: { agent: OwnAgent }) => {
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
