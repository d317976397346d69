import { unitText } from '@agent-network/contracts/agents/price-text';
import { MAX_USAGE_UNITS, usageUnits } from '@agent-network/contracts/invocations/usage';
import type { Form } from '../../../forms/use-form.ts';
import { Button } from '../../../ui/controls/button.tsx';
import { Checkbox } from '../../../ui/controls/checkbox.tsx';
import { Field } from '../../../ui/controls/field.tsx';
import { type Option, Select } from '../../../ui/controls/select.tsx';
import { NumberInput, TextInput } from '../../../ui/controls/text-input.tsx';
import { type AgentValues, MAX_SIZE_STEPS, type SizeStepValues, type UsagePriceValues } from './agent-values.ts';
import { Part } from './part.tsx';

interface PriceFieldsProps {
  readonly form: Form<AgentValues>;
}

/** The price of a call. */
export const PriceField = ({ form: { values, set, error } }: PriceFieldsProps) => (
  <div className="sm:max-w-60">
    <Field label="Price per call" isRequired error={error('rates.perRequest')} hint="0 makes it free.">
      <NumberInput unit="USDC" value={values.perRequest} onChange={(amount) => set('perRequest', amount)} />
    </Field>
  </div>
);

/** Prices by size, units, usage and complexity. */
export const FurtherPrices = ({ form }: PriceFieldsProps) => (
  <Part title="Prices by size, units and usage">
    <SizeSteps form={form} />
    <UnitFields form={form} />
    <UsageFields form={form} />
    <Checkbox
      label="Let callers set a complexity"
      hint="“complexity” in the input then changes the price: ×0.8 for low, ×1.5 for high."
      isChecked={form.values.priceHints}
      onChange={(takesHints) => form.set('priceHints', takesHints)}
    />
  </Part>
);

const SizeSteps = ({ form: { values, set, error } }: PriceFieldsProps) => {
  const steps = values.sizeSteps;
  const change = (at: number, step: Partial<SizeStepValues>) =>
    set(
      'sizeSteps',
      steps.map((each, index) => (index === at ? { ...each, ...step } : each)),
    );
  return (
    <fieldset>
      <legend className="font-medium">Larger calls</legend>
      <p className="mt-1 mb-2 text-muted">
        {steps.length === 0
          ? 'Calls of all sizes cost the same.'
          : 'Multiplies the price of calls whose task, input, context and metadata together exceed a size.'}
      </p>
      {error('metadata.sizeSteps') && <p className="mb-2 text-bad">{error('metadata.sizeSteps')}</p>}
      {steps.map((step, at) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: steps have no identity beside their place
        <div key={at} className="mb-2 grid grid-cols-[1fr_1fr_auto] items-end gap-2">
          <Field label="Above (bytes)" error={error(`metadata.sizeSteps.${at}.aboveBytes`)}>
            <NumberInput
              inputMode="numeric"
              value={step.aboveBytes}
              onChange={(aboveBytes) => change(at, { aboveBytes })}
            />
          </Field>
          <Field label="Price times" error={error(`metadata.sizeSteps.${at}.multiplier`)}>
            <NumberInput value={step.multiplier} onChange={(multiplier) => change(at, { multiplier })} />
          </Field>
          <Button
            aria-label={`Remove size ${at + 1}`}
            onClick={() =>
              set(
                'sizeSteps',
                steps.filter((_, index) => index !== at),
              )
            }
          >
            Remove
          </Button>
        </div>
      ))}
      {steps.length < MAX_SIZE_STEPS && (
        <Button size="sm" onClick={() => set('sizeSteps', [...steps, { aboveBytes: '', multiplier: '' }])}>
          Charge more above a size
        </Button>
      )}
    </fieldset>
  );
};

const byType: Option<AgentValues['unitMeasure']> = { value: '', label: 'whatever is there, by its type' };
const measures: readonly Option<AgentValues['unitMeasure']>[] = [
  { value: 'number', label: 'a number' },
  { value: 'items', label: 'the items of a list' },
  { value: 'characters', label: 'the characters of a text' },
  { value: 'bytes', label: 'the bytes of a text' },
];

/** A price by units of the input, besides the price per request. */
const UnitFields = ({ form: { values, set, error } }: PriceFieldsProps) => (
  <fieldset>
    <legend className="font-medium">Units</legend>
    <p className="mt-1 mb-2 text-muted">
      Charge for units counted in the input: at least the price per call, at most the maximum. Leave these text fields
      empty to charge per call only.
    </p>
    <div className="grid gap-4 sm:grid-cols-2">
      <Field label="Unit" error={error('metadata.perUnit.unit')} hint="Name of the unit, such as “page”.">
        <TextInput value={values.unit} onChange={(unit) => set('unit', unit)} placeholder="page" autoComplete="off" />
      </Field>
      <Field
        label="JSON pointer"
        error={error('metadata.perUnit.count')}
        hint="Place in the input that is counted. Calls with nothing there are refused."
      >
        <TextInput
          value={values.unitCount}
          onChange={(count) => set('unitCount', count)}
          placeholder="/pages"
          autoComplete="off"
          spellCheck={false}
        />
      </Field>
      <Field label="Counted as" error={error('metadata.perUnit.measure')}>
        <Select
          value={values.unitMeasure}
          onChange={(measure) => set('unitMeasure', measure)}
          options={values.unitMeasure === '' ? [byType, ...measures] : measures}
        />
      </Field>
      <Field label="Price per unit" error={error('metadata.perUnit.price')}>
        <NumberInput unit="USDC" value={values.unitPrice} onChange={(price) => set('unitPrice', price)} />
      </Field>
      <Field label="Maximum per call" error={error('metadata.perUnit.maximum')}>
        <NumberInput unit="USDC" value={values.unitMaximum} onChange={(maximum) => set('unitMaximum', maximum)} />
      </Field>
    </div>
  </fieldset>
);

const knownUnits: readonly Option<string>[] = usageUnits.map((unit) => ({ value: unit, label: unitText(unit) }));

/** A unit of the agent's own stays as it was declared. */
const unitOptions = (unit: string): readonly Option<string>[] =>
  knownUnits.some(({ value }) => value === unit) ? knownUnits : [...knownUnits, { value: unit, label: unitText(unit) }];

/** A price by what a call used, known when it has ended. */
const UsageFields = ({ form: { values, set, error } }: PriceFieldsProps) => {
  const prices = values.usagePrices;
  const change = (at: number, next: Partial<UsagePriceValues>) =>
    set(
      'usagePrices',
      prices.map((each, index) => (index === at ? { ...each, ...next } : each)),
    );
  const unused = usageUnits.find((unit) => !prices.some((each) => each.unit === unit)) ?? 'x-unit';
  return (
    <fieldset>
      <legend className="font-medium">Usage</legend>
      <p className="mt-1 mb-2 text-muted">
        Charge for what a call used, such as tokens: at least the price per call, at most the maximum, which is held
        during the call. Does not go together with the other prices of this part.
      </p>
      {['metadata.perUsage', 'metadata.perUsage.prices'].map((path) =>
        error(path) ? (
          <p key={path} className="mb-2 text-bad">
            {error(path)}
          </p>
        ) : null,
      )}
      {prices.map((each, at) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: prices have no identity beside their place
        <div key={at} className="mb-2 grid grid-cols-[1fr_1fr_auto] items-end gap-2">
          <Field label="Unit of usage" error={error(`metadata.perUsage.prices.${at}.unit`)}>
            <Select value={each.unit} onChange={(unit) => change(at, { unit })} options={unitOptions(each.unit)} />
          </Field>
          <Field label="Price of one" error={error(`metadata.perUsage.prices.${at}.price`)}>
            <NumberInput unit="USDC" value={each.price} onChange={(price) => change(at, { price })} />
          </Field>
          <Button
            aria-label={`Remove price ${at + 1}`}
            onClick={() =>
              set(
                'usagePrices',
                prices.filter((_, index) => index !== at),
              )
            }
          >
            Remove
          </Button>
        </div>
      ))}
      {prices.length > 0 && (
        <div className="mb-2 sm:max-w-60">
          <Field label="Maximum by usage" isRequired error={error('metadata.perUsage.maximum')}>
            <NumberInput unit="USDC" value={values.usageMaximum} onChange={(maximum) => set('usageMaximum', maximum)} />
          </Field>
        </div>
      )}
      {prices.length < MAX_USAGE_UNITS && (
        <Button size="sm" onClick={() => set('usagePrices', [...prices, { unit: unused, price: '' }])}>
          Charge for usage
        </Button>
      )}
    </fieldset>
  );
};
