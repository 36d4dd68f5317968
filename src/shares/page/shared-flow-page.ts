import { type Html, html, type Part } from '../../core/html.ts'
import { capitalized, countText, eventsText } from '../../core/text.ts'
import type { RunEvent, RunFinding, RunFindingKind, StepResult, StepStatus } from '../../flows/run-result.ts'
import type { FlowReport } from '../public-report.ts'
import { durationText, prose } from './format-text.ts'

/** Content of a page, inserted into the shared layout. */
export interface PageContent {
  /** Kind of report, shown above the name. */
  kicker: string
  verdict: { word: string; tone: 'good' | 'bad' | 'warn' | 'none' }
  headline: string
  facts: [name: string, value: Part][]
  body: Html
}

const STATUS: Record<StepStatus, PageContent['verdict']> = {
  passed: { word: 'Passed', tone: 'good' },
  healed: { word: 'Healed', tone: 'warn' },
  failed: { word: 'Failed', tone: 'bad' },
  skipped: { word: 'Skipped', tone: 'none' },
}

const KINDS: Record<RunFindingKind, string> = {
  missing: 'Missing',
  wrong_data: 'Wrong data',
  unexpected: 'Unexpected',
  duplicate: 'Duplicate',
  step_failed: 'Step failed',
  rule: 'Rule violation',
}

/** Content of the page for a flow test run. */
export function flowPageContent(report: FlowReport): PageContent {
  const { status, headline, findings, steps, events, errors, attempts } = report
  const done = steps.filter(({ status }) => status === 'passed' || status === 'healed').length
  const vendors = new Set(events.map(({ vendor }) => vendor)).size
  return {
    kicker: 'Flow test',
    verdict: STATUS[status],
    headline,
    facts: [
      ['Steps', `${done} of ${steps.length} completed`],
      ['Tags', `${eventsText(events.length)} of ${vendors} ${vendors === 1 ? 'vendor' : 'vendors'}`],
      ...(attempts > 1 ? [['Attempts', countText(attempts)] as [string, Part]] : []),
    ],
    body: html`${findings.length > 0 && html`<h2>Findings</h2><ul>${findings.map((one) => findingPart(one))}</ul>`}
<h2>Steps</h2>
<ol class="steps">${steps.map((step, place) => stepPart(step, place + 1, eventsOf(step, events)))}</ol>
${errors.length > 0 && html`<h2>Page errors</h2><ul class="card">${errors.map((error) => html`<li>${error}</li>`)}</ul>`}`,
  }
}

const eventsOf = ({ index }: StepResult, events: readonly RunEvent[]) => events.filter(({ step }) => step === index)

function findingPart({ kind, sentence, expected, observed }: RunFinding): Html {
  const pairs = [
    ['Expected', expected],
    ['Observed', observed],
  ].filter(([, value]) => value !== null)
  return html`<li class="card">
<div class="head"><h3>${prose(sentence)}.</h3><span class="pill bad">${KINDS[kind]}</span></div>
${pairs.length > 0 && html`<dl class="pairs">${pairs.map(([name, value]) => html`<dt>${name ?? ''}</dt><dd>${prose(value ?? '')}</dd>`)}</dl>`}
</li>`
}

function stepPart(step: StepResult, number: number, events: readonly RunEvent[]): Html {
  const { index, title, status, durationMs, error, healed, screenshot } = step
  const { word, tone } = STATUS[status]
  return html`<li class="card">
<div class="head"><h3>${number}. ${title}</h3><span class="pill ${tone}">${word}</span>${durationMs !== null && html`<span class="muted">${durationText(durationMs)}</span>`}</div>
${error !== null && html`<p class="says trouble">${capitalized(error)}</p>`}
${healed && html`<dl class="pairs"><dt>Recorded as</dt><dd>${healed.before}</dd><dt>Found by</dt><dd>${healed.after}</dd></dl>`}
${events.map(eventPart)}
${screenshot && html`<figure><img src="?step=${index}" alt="Screenshot after step ${number}, ${title}"></figure>`}
</li>
`
}

function eventPart({ vendor, event, account, host, path, status, answered, params }: RunEvent): Html {
  const rows: [string, string][] = [
    ...(account === null ? [] : [['Account', account] as [string, string]]),
    ...(host === null ? [] : [['Page', `${host}${path ?? ''}`] as [string, string]]),
    ['Response', answered ? 'mocked by the test; nothing was sent' : status === null ? 'none' : String(status)],
    ...Object.entries(params),
  ]
  return html`<details><summary><strong>${event === '' ? 'request' : event}</strong> · ${vendor}</summary>
<table><tbody>${rows.map(([name, value]) => html`<tr><th scope="row">${name}</th><td>${value}</td></tr>`)}</tbody></table></details>
`
}
