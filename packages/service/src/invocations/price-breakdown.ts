import type { Quote } from '@agent-network/contracts/invocations/quotes';
import { formatUsdc } from '@agent-network/contracts/money';
import type { CallableAgent, PerUnit } from '../agents/agent.ts';
import type { Price } from './price.ts';

/** The parts of a price and the calculation, as a quote shows them. */
export function breakdownOf({ perUnit }: Pick<CallableAgent, 'perUnit'>, price: Price): Quote['breakdown'] {
  const { size, units } = price;
  return {
    base_fee: formatUsdc(price.baseMicro),
    complexity_multiplier: formatMultiplier(price.hintHundredths),
    ...(size
      ? { size: { bytes: size.bytes, aboveBytes: size.aboveBytes, multiplier: formatMultiplier(size.hundredths) } }
      : {}),
    ...(perUnit && units
      ? {
          units: {
            unit: perUnit.unit,
            count: Number(units.count),
            price: perUnit.price,
            amount: formatUsdc(units.amountMicro),
            maximum: perUnit.maximum,
          },
        }
      : {}),
    total: formatUsdc(price.totalMicro),
    explanation: explain(perUnit, price),
  };
}

/** "0.05 per request × 1.5 (complexity) × 1.25 (20,004 bytes, above 16,384) = 0.09375 USDC" */
function explain(perUnit: PerUnit | null, { baseMicro, hintHundredths, size, units, totalMicro }: Price): string {
  const factors = [
    `${formatUsdc(baseMicro)} per request`,
    ...(hintHundredths === 100n ? [] : [`${decimal(hintHundredths)} (complexity)`]),
    ...(size && size.hundredths !== 100n
      ? [`${decimal(size.hundredths)} (${grouped(size.bytes)} bytes, above ${grouped(size.aboveBytes)})`]
      : []),
  ].join(' × ');
  const total = `${formatUsdc(totalMicro)} USDC`;
  if (!perUnit || !units) return `${factors} = ${total}`;
  const counted = `${grouped(Number(units.count))} × ${perUnit.price} per ${perUnit.unit}, at most ${perUnit.maximum}`;
  return `the higher of ${factors}, and ${counted} = ${total}`;
}

const grouped = (count: number): string => count.toLocaleString('en-US');
const decimal = (hundredths: bigint): string => String(Number(hundredths) / 100);

/** "1.5x" */
export const formatMultiplier = (hundredths: bigint): string =>
  `${(Number(hundredths) / 100).toFixed(2).replace(/0$/, '')}x`;
