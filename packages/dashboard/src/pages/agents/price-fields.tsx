import type { Form } from '../../forms/use-form.ts';
import { Button } from '../../ui/controls/button.tsx';
import { Checkbox } from '../../ui/controls/checkbox.tsx';
import { Field } from '../../ui/controls/field.tsx';
import { NumberInput } from '../../ui/controls/text-input.tsx';
import { Card } from '../../ui/layout/card.tsx';
import { type AgentValues, MOST_SIZE_STEPS, type SizeStepValues } from './agent-values.ts';

interface PriceFieldsProps {
  readonly form: Form<AgentValues>;
}

/** All that the price of a call follows, as its owner states it. */
export const PriceFields = ({ form }: PriceFieldsProps) => {
  const { values, set, error } = form;
  return (
    <Card title="What it costs">
      <div className="grid gap-4 sm:grid-cols-2">
        <Field
          label="Per request"
          isRequired
          error={error('rates.perRequest')}
          hint="What every call costs unless you choose otherwise below. 0 is free of charge."
        >
          <NumberInput unit="USDC" value={values.perRequest} onChange={(amount) => set('perRequest', amount)} />
        </Field>
      </div>
      <SizeSteps form={form} />
      <div className="mt-4">
        <Checkbox
          label="Callers may say how complex a call is"
          hint="“complexity” in the input of a call then multiplies the price: low by 0.8, high by 1.5."
          isChecked={values.priceHints}
          onChange={(takesHints) => set('priceHints', takesHints)}
        />
      </div>
    </Card>
  );
};

const SizeSteps = ({ form: { values, set, error } }: PriceFieldsProps) => {
  const steps = values.sizeSteps;
  const change = (at: number, step: Partial<SizeStepValues>) =>
    set(
      'sizeSteps',
      steps.map((each, index) => (index === at ? { ...each, ...step } : each)),
    );
  return (
    <fieldset className="mt-4">
      <legend className="font-medium">Larger calls</legend>
      <p className="mt-1 mb-2 text-muted">
        {steps.length === 0
          ? 'Calls of all sizes cost the same.'
          : 'The price is multiplied for calls whose task, input, context and metadata are larger together.'}
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
      {steps.length < MOST_SIZE_STEPS && (
        <Button size="sm" onClick={() => set('sizeSteps', [...steps, { aboveBytes: '', multiplier: '' }])}>
          Charge more above a size
        </Button>
      )}
    </fieldset>
  );
};
