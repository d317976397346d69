import { AgentRegistration } from '@agent-network/contracts/agents/agents';
import { usdcPattern } from '@agent-network/contracts/money';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { useApi, useApiMutation } from '../../app/api-query.ts';
import { useForm } from '../../forms/use-form.ts';
import { Button, buttonClass } from '../../ui/controls/button.tsx';
import { Card } from '../../ui/layout/card.tsx';
import { Page } from '../../ui/layout/page.tsx';
import { Actions } from '../../ui/overlays/dialog.tsx';
import { Badge } from '../../ui/values/badge.tsx';
import { ErrorNote } from '../../ui/values/error-note.tsx';
import { Identicon } from '../../ui/values/identicon.tsx';
import { linkClass } from '../../ui/values/link.tsx';
import { priceText } from '../../ui/values/money.tsx';
import { AgentFields } from './form/agent-fields.tsx';
import { type AgentValues, noValues, problemsOfValues, registrationBody } from './form/agent-values.ts';
import { suggestCapabilities } from './form/suggest-capabilities.ts';
import { protocolNames } from './protocol-names.ts';
import { type NewAgent, RegisteredView } from './registered/registered-view.tsx';

const AgentsLink = () => (
  <Link to="/agents" className={linkClass}>
    My agents
  </Link>
);

/** Registers an agent, and shows its token this once. */
export function NewAgentView() {
  const [made, setMade] = useState<NewAgent | null>(null);
  return made ? (
    <RegisteredView agent={made} up={<AgentsLink />} />
  ) : (
    <Page title="Register an agent" up={<AgentsLink />} description="Four fields, and callers can find and pay it.">
      <RegisterForm onMade={setMade} />
    </Page>
  );
}

function RegisterForm({ onMade }: { onMade: (agent: NewAgent) => void }) {
  const register = useApiMutation('registerAgent', { invalidates: ['listOwnAgents', 'listAgents'] });
  const { data: facets } = useApi('getAgentFacets', {});
  const known = facets?.capabilities.map(({ value }) => value) ?? [];
  const capabilitiesOf = (values: AgentValues) =>
    values.capabilities.length > 0 ? values.capabilities : suggestCapabilities(values, known);
  const form = useForm({
    initial: noValues,
    schema: AgentRegistration,
    toBody: (values) => registrationBody({ ...values, capabilities: capabilitiesOf(values) }),
    check: problemsOfValues,
    async onSubmit(body, { endpoint, protocol }) {
      onMade({ ...(await register.mutateAsync({ body })), endpoint, protocol });
    },
  });
  return (
    <div className="grid items-start gap-5 lg:grid-cols-[minmax(0,1fr)_22rem]">
      <form onSubmit={form.submit} noValidate className="min-w-0 space-y-5">
        <AgentFields
          form={form}
          endpointHint="You'll verify it next."
          suggested={suggestCapabilities(form.values, known)}
        />
        <ErrorNote error={form.failure} />
        <Actions>
          <Link to="/agents" className={buttonClass()}>
            Cancel
          </Link>
          <Button type="submit" variant="primary" isBusy={form.isBusy}>
            Register agent
          </Button>
        </Actions>
      </form>
      <div className="min-w-0 max-lg:hidden lg:sticky lg:top-20">
        <AgentPreview values={form.values} capabilities={capabilitiesOf(form.values)} />
      </div>
    </div>
  );
}

/** The agent as others will see it in lists, while it is typed. */
function AgentPreview({ values, capabilities }: { values: AgentValues; capabilities: readonly string[] }) {
  const { name, description, endpoint, protocol, perRequest } = values;
  const host = URL.parse(endpoint)?.host;
  return (
    <Card title="Preview">
      <div className="flex gap-3">
        <Identicon id={name} className="size-9" />
        <div className="min-w-0 flex-1 space-y-1.5">
          <div className="flex flex-wrap items-baseline justify-between gap-x-4">
            <bdi className="min-w-0 font-medium wrap-anywhere">{name || 'Name of the agent'}</bdi>
            <span>{usdcPattern.test(perRequest) ? priceText(perRequest) : 'Price'}</span>
          </div>
          <p dir="auto" className="line-clamp-4 text-muted wrap-anywhere">
            {description || 'One or two sentences. People and search read them.'}
          </p>
          <div className="flex flex-wrap gap-1">
            {capabilities.map((each) => (
              <Badge key={each}>{each}</Badge>
            ))}
          </div>
        </div>
      </div>
      <p className="mt-4 border-t border-line pt-3 text-[13px] text-muted wrap-anywhere">
        {host ? `Calls go to ${host}` : 'Calls go to your endpoint'} ({protocolNames[protocol]}). It is listed as soon
        as you register it, and can be called once its endpoint is verified.
      </p>
    </Card>
  );
}
