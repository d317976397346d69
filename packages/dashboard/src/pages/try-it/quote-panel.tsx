import type { Quote } from '@agent-network/contracts/invocations/quotes';
import type { ReactNode } from 'react';
import { Button } from '../../ui/controls/button.tsx';
import { FactRow } from '../../ui/layout/fact-row.tsx';
import { Money } from '../../ui/values/money.tsx';
import { ExactTime } from '../../ui/values/time-ago.tsx';
import { useNow } from '../../ui/values/use-now.ts';

interface QuotePanelProps {
  readonly quote: Quote;
  /** True if the form has changed since the quote. */
  readonly isStale: boolean;
  readonly isBusy: boolean;
  readonly isFree: boolean;
  readonly onRun: () => void;
  /** The choice of the payer. */
  readonly children: ReactNode;
}

/** The price of the call, and the button that makes it. */
export function QuotePanel({ quote, isStale, isBusy, isFree, onRun, children }: QuotePanelProps) {
  const hasExpired = useNow(1000) >= Date.parse(quote.validUntil);
  return (
    <div className="space-y-4">
      <dl>
        <FactRow label="Price">
          <strong>
            <Money amount={quote.estimatedCost} />
          </strong>
        </FactRow>
        <FactRow label="Made of">
          <bdi className="wrap-anywhere whitespace-normal">{quote.breakdown.explanation}</bdi>
        </FactRow>
        <FactRow label="Takes about">{quote.estimatedTime.replace('s', ' s')}</FactRow>
        <FactRow label="Holds until">
          <ExactTime at={quote.validUntil} />
        </FactRow>
      </dl>
      {children}
      {isStale || hasExpired ? (
        <p role="status" className="rounded-md bg-warn-soft px-3 py-2 text-warn">
          {isStale ? 'The call was changed. Ask for a new quote.' : 'The quote has expired. Ask for a new one.'}
        </p>
      ) : (
        <Button variant="primary" icon="play" className="w-full" isBusy={isBusy} onClick={onRun}>
          {isFree ? 'Run for free' : `Run for ${quote.estimatedCost} USDC`}
        </Button>
      )}
    </div>
  );
}
