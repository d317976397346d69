import { Card } from '../../ui/layout/card.tsx';
import { CodeBlock } from '../../ui/values/code-block.tsx';
import { samplesOf } from '../invocations/call-samples.ts';
import { type CallValues, callBody } from './call-values.ts';
import type { Payment } from './use-payment.ts';

interface CallCodeProps {
  readonly agentId: string;
  readonly values: CallValues;
  readonly price: string;
  readonly isQuoted: boolean;
  readonly payment: Payment;
}

/** The call of the form as code. */
export const CallCode = ({ agentId, values, price, isQuoted, payment: { choice, channel } }: CallCodeProps) => (
  <div className="min-w-0">
    <Card title="Code for this call">
      <CodeBlock
        label="Code for this call"
        samples={samplesOf(
          {
            agentId,
            body: callBody(values, Date.now(), isQuoted ? price : undefined),
            mode: values.mode,
            ...(choice
              ? { byWallet: { maxPerCall: price, ...(channel.wallet ? { deposit: channel.deposit } : {}) } }
              : {}),
          },
          location.origin,
        )}
      />
    </Card>
  </div>
);
