import { readFileSync } from 'node:fs';
import type { AgentTypes } from '@agent-network/contracts/agents/agent-types';
import type { AgentDetail } from '@agent-network/contracts/agents/agents';
import { type Html, html } from '../documents/html.ts';
import { type InputField, inputFields } from './input-fields.ts';
import { PAGE_SCRIPT, type PageScripts } from './layout.ts';
import { isFree } from './parts.ts';
import { networkName, type Site } from './site.ts';

const TRY = 'try/try-it';
const imported = ['try/ask-node', 'try/fields', 'try/files', 'try/question', 'try/view', 'try/wallet'] as const;
const pathOf = (name: string) => `/pages/${name}.js`;

/** Scripts of a page with samples; with those of the form that runs an agent, where it has one. */
export const pageScripts = (hasForm: boolean): PageScripts =>
  hasForm ? { run: [PAGE_SCRIPT, pathOf(TRY)], imported: imported.map(pathOf) } : { run: [PAGE_SCRIPT] };

/** The scripts of pages, by path. */
export const scriptFiles: ReadonlyMap<string, string> = new Map(
  ['page', TRY, ...imported].map((name) => [
    pathOf(name),
    readFileSync(new URL(`${name}.js`, import.meta.url), 'utf8'),
  ]),
);

/** True when visitors call agents from the page: without an API key they call as `POST /x402/{agentId}`. */
export const canTry = ({ gateways }: Site): boolean => gateways.has('x402');

/** An agent that visitors run on a page. */
export type TriedAgent = AgentDetail & { readonly types?: AgentTypes };

/** The form in a section of its own; null: the node has no way to run an agent for visitors. */
export const tryPart = (site: Site, agent: TriedAgent): Html | null =>
  canTry(site) || site.hasDashboard
    ? html`<section class="panel" aria-labelledby="try"><h2 id="try">Try it</h2>
${agent.online ? null : html`<p class="note warn">The agent is offline: calls are refused.</p>`}
${tryForm(site, agent)}</section>`
    : null;

interface FormOptions {
  /** Task before visitors write one. */
  readonly task?: string;
  /** Shown in place of the answer until there is one. */
  readonly before?: Html;
}

/**
 * The form that runs the agent. Its script asks the node for the price of a paid call and has a wallet of the browser pay; without a script it
 * hands the task over to the dashboard.
 */
export function tryForm(site: Site, agent: TriedAgent, { task, before }: FormOptions = {}): Html {
  const dashboard = `/dashboard/explore/${encodeURIComponent(agent.id)}`;
  const signIn = site.hasDashboard ? `${dashboard}?tab=try` : '';
  // A question is a whole task: the input of the agent's example would contradict it.
  const isQuestion = task !== undefined && agent.exampleQuestions.includes(task);
  const fields = (canTry(site) ? inputFields(agent.types) : []).map((field) =>
    isQuestion && !field.isRequired ? { ...field, value: '' } : field,
  );
  return html`<form class="try" id="try-form" action="${site.hasDashboard ? dashboard : ''}" method="get" data-agent="${agent.id}" data-network="${site.network}" data-usdc="${site.usdc}" data-network-name="${networkName(site)}" data-sign-in="${signIn}" data-test-funds="${site.testFunds}">
<input type="hidden" name="tab" value="try">
<label for="task">Task</label><textarea id="task" name="task" rows="3" maxlength="1000" required dir="auto" placeholder="What should the agent do?">
${task}</textarea>
${questionLinks(agent.exampleQuestions, signIn)}
${fields.length === 0 ? null : html`<fieldset><legend>Input</legend>${fields.map(fieldPart)}</fieldset>`}
<div class="row"><button type="submit">Run</button><p>${costText(site, agent)}</p></div>
</form>
<p id="try-said" role="status"></p>
<div id="try-shown">${before}</div>`;
}

/** The agent's own examples of tasks. The script of the form fills one in; without it a link hands it over to the dashboard. */
const questionLinks = (questions: readonly string[], signIn: string): Html | null =>
  questions.length === 0
    ? null
    : html`<ul class="chips questions" aria-label="Examples">${questions.map(
        (question) =>
          html`<li><a href="${signIn === '' ? '#task' : `${signIn}&${new URLSearchParams({ task: question })}`}" data-task="${question}" dir="auto">${question}</a></li>`,
      )}</ul>`;

function costText(site: Site, agent: AgentDetail): string {
  if (!canTry(site))
    return isFree(agent.rates.perRequest, agent.metadata)
      ? 'This agent is free. You sign in to run it.'
      : 'You see the price first, and sign in to pay.';
  if (isFree(agent.rates.perRequest, agent.metadata)) return 'Free, no account needed.';
  return site.testFunds === null
    ? 'You see the price first. Then pay from a wallet, or sign in.'
    : 'You see the price first. Then pay with test money, no account needed.';
}

function fieldPart(field: InputField, at: number): Html {
  const { name, label, help, isRequired, kind, value } = field;
  const id = `input-${at}`;
  const about = help ? html`<p class="hint" id="${id}-help" dir="auto">${help}</p>` : null;
  const described = help ? html` aria-describedby="${id}-help"` : null;
  const common = html` id="${id}" data-field="${name}" data-kind="${kind.is === 'choice' ? 'json' : kind.is}"${isRequired ? html` required` : null}${described}`;
  return html`<div class="field"><label for="${id}" dir="auto">${label}${isRequired ? null : html` <span>(optional)</span>`}</label>${about}${control(field, common, value)}</div>`;
}

function control({ kind }: InputField, common: Html, value: string): Html {
  if (kind.is === 'choice')
    return html`<select${common}><option value=""></option>${kind.values.map(
      (each) =>
        html`<option value="${JSON.stringify(each)}"${JSON.stringify(each) === value ? html` selected` : null}>${typeof each === 'string' ? each : JSON.stringify(each)}</option>`,
    )}</select>`;
  if (kind.is === 'number') return html`<input${common} inputmode="decimal" value="${value}" autocomplete="off">`;
  if (kind.is === 'text' && kind.isShort) return html`<input${common} value="${value}" autocomplete="off" dir="auto">`;
  const hint = kind.is === 'json' ? html` placeholder="JSON" spellcheck="false"` : html` dir="auto"`;
  // A textarea drops the first line break of its content.
  return html`<textarea${common} rows="3"${hint}>
${value}</textarea>`;
}
