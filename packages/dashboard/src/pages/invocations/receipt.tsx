import { formatUsdc } from '@agent-network/contracts/money';
import type { SignedReceipt } from '@agent-network/contracts/payments/receipts';
import { verifyReceipt } from '@agent-network/sdk';
import { useMutation } from '@tanstack/react-query';
import { ChainLink } from '../../app/chain-link.tsx';
import { client } from '../../app/client.ts';
import { saveFile } from '../../app/save-file.ts';
import { useSessionInfo } from '../../app/session.ts';
import { Button } from '../../ui/controls/button.tsx';
import { Copyable } from '../../ui/controls/copyable.tsx';
import { FactRow } from '../../ui/layout/fact-row.tsx';
import { ErrorNote } from '../../ui/values/error-note.tsx';
import { Money } from '../../ui/values/money.tsx';
import { Note } from '../../ui/values/note.tsx';
import { ExactTime } from '../../ui/values/time-ago.tsx';
import { checksOf, type DetailedRecord, receiptParts } from './invocation.ts';

const usdcOf = (units: string) => formatUsdc(BigInt(units));
const iso = (seconds: number) => new Date(seconds * 1000).toISOString();

/** The content of a receipt, and the SDK's verification of it in this browser. Loaded on demand, as it includes hashes and signatures. */
export function Receipt({ receipt, record }: { receipt: SignedReceipt; record: DetailedRecord }) {
  const { message, signer } = receipt;
  const save = () =>
    saveFile(`receipt-${message.requestId}.json`, 'application/json', JSON.stringify(receipt, null, 2));
  return (
    <div className="space-y-3">
      <dl>
        <FactRow label="Signed by">
          <ChainLink kind="address" id={signer} label="signing wallet" />
        </FactRow>
        <FactRow label="Issued">
          <ExactTime at={iso(message.issuedAt)} />
        </FactRow>
        <FactRow label="Payer">
          {message.payer === '' ? 'none (free)' : <Copyable label="payer" text={message.payer} short />}
        </FactRow>
        <FactRow label="Owner">
          <Copyable label="owner of the agent" text={message.owner} short />
        </FactRow>
        <FactRow label="Cost">
          <Money amount={usdcOf(message.cost)} />
        </FactRow>
        <FactRow label="Not charged">
          <Money amount={usdcOf(message.refund)} />
        </FactRow>
        {message.channel && (
          <FactRow label="Channel">
            <Copyable label="channel id" text={message.channel} short />
          </FactRow>
        )}
      </dl>
      <Check receipt={receipt} record={record} />
      <Button size="sm" className="w-full" onClick={save}>
        Download
      </Button>
    </div>
  );
}

function Check({ receipt, record }: { receipt: SignedReceipt; record: DetailedRecord }) {
  const { chainId } = useSessionInfo();
  const parts = receiptParts(record);
  const check = useMutation({
    async mutationFn() {
      const { wallet } = await client.getReserves();
      await verifyReceipt(receipt, { wallet, chainId, requestId: record.requestId, ...parts });
      return wallet;
    },
  });
  if (check.isSuccess) return <Verified wallet={check.data} checks={checksOf(parts)} />;
  return (
    <>
      <ErrorNote title={titleOf(check.error)} error={check.error} />
      <Button variant="primary" icon="check" className="w-full" isBusy={check.isPending} onClick={() => check.mutate()}>
        Verify
      </Button>
    </>
  );
}

/** An error of the node's answer says nothing of the receipt. */
const titleOf = (error: Error | null) =>
  error?.name === 'ReceiptVerificationError' ? 'The receipt is not valid' : 'The receipt could not be checked';

const Verified = ({ wallet, checks }: { wallet: string; checks: ReturnType<typeof checksOf> }) => (
  <div role="status">
    <Note tone="good" title="Verified in this browser">
      <ul className="list-disc space-y-1 pl-4">
        {checks.made.map((text) => (
          <li key={text}>{text}</li>
        ))}
      </ul>
      {checks.left.length > 0 && (
        <p className="mt-2">Not checked because not on this page: {checks.left.join(', ')}.</p>
      )}
      <p className="mt-2">
        The wallet <Copyable label="wallet of the node" text={wallet} short /> is the one the node names in its proof of
        reserves. Compare it with the address you paid.
      </p>
    </Note>
  </div>
);
