import type { Quote } from '@agent-network/contracts/invocations/quotes';
import { Link } from '@tanstack/react-router';
import { Button } from '../../ui/controls/button.tsx';
import { Card } from '../../ui/layout/card.tsx';
import { FactRow } from '../../ui/layout/fact-row.tsx';
import { linkClass } from '../../ui/values/link.tsx';
import { Money } from '../../ui/values/money.tsx';
import { Warning } from '../../ui/values/note.tsx';
import { AddTestFunds } from '../payments/add-test-funds.tsx';
import { useSpendable } from '../payments/lack-of-funds.tsx';
import { ChannelPanel } from './channel-panel.tsx';
import { PayChoice } from './pay-choice.tsx';
import type { Payment } from './use-payment.ts';

interface RunPanelProps {
  /** Id of the form that the button sends. */
  readonly formId: string;
  /** The price on the button, and the maximum that a press pays. */
  readonly price: string;
  /** The quote of the form's current content; undefined: the price is the agent's own. */
  readonly quote: Quote | undefined;
  /** The price has risen since the button was pressed: nothing was run. */
  readonly hasRisen: boolean;
  readonly payment: Payment;
  readonly isBusy: boolean;
  readonly isDisabled: boolean;
}

/** The price, who pays it, and the one button that runs the call. */
export function RunPanel({ formId, price, quote, hasRisen, payment, isBusy, isDisabled }: RunPanelProps) {
  const { payer, setPayer, isFree, choice, channel } = payment;
  const { spendable, lack } = useSpendable(price);
  const lacking = choice === null ? lack : null;
  return (
    <Card title="Price">
      <div className="space-y-4">
        <PriceFacts price={price} quote={quote} />
        {!isFree && <PayChoice value={payer} onChange={setPayer} available={spendable?.perCall} />}
        {channel.wallet && (
          <ChannelPanel
            wallet={channel.wallet}
            price={price}
            channel={channel.found}
            error={channel.error}
            deposit={channel.deposit}
            onDeposit={channel.setDeposit}
          />
        )}
        <div role="status" className="space-y-2 empty:hidden">
          {hasRisen && (
            <Warning>
              The price has gone up since it was shown, so nothing was run. Check the new price, then run the call.
            </Warning>
          )}
          {lacking && (
            <Warning>
              {lacking.text}{' '}
              {lacking.reason === 'funds' && (
                <>
                  <Link to="/payments" className={`${linkClass} underline`}>
                    Add funds
                  </Link>{' '}
                  or pay with a wallet.
                </>
              )}
            </Warning>
          )}
        </div>
        {lacking?.reason === 'funds' && <AddTestFunds />}
        <Button
          type="submit"
          form={formId}
          variant="primary"
          icon="play"
          className="w-full"
          isBusy={isBusy}
          disabled={isDisabled || lacking !== null}
        >
          {isFree ? 'Run for free' : `Run for ${price} USDC`}
        </Button>
      </div>
    </Card>
  );
}

const PriceFacts = ({ price, quote }: { price: string; quote: Quote | undefined }) => (
  <dl aria-live="polite">
    <FactRow label={quote ? 'This call' : 'Per request'}>
      <strong>
        <Money amount={price} />
      </strong>
    </FactRow>
    {quote && (
      <>
        <FactRow label="Calculation">
          <bdi className="wrap-anywhere whitespace-normal">{quote.breakdown.explanation}</bdi>
        </FactRow>
        <FactRow label="Usually takes">{quote.estimatedTime.replace('s', ' s')}</FactRow>
      </>
    )}
  </dl>
);
