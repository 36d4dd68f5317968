import { type Html, html } from '../../core/html.ts'
import { countText } from '../../core/text.ts'
import { type AuditedPage, type AuditReport, type Difference, toneOf } from '../public-report.ts'
import { durationText } from './format-text.ts'
import type { PageContent } from './shared-flow-page.ts'

const CHANGES: Record<Difference['change'], string> = {
  tag_new: 'new tag',
  tag_gone: 'tag removed',
  page_new: 'new page',
  page_gone: 'page removed',
  status: 'status changed',
}

/** Content of the page for an audit. */
export function auditPageContent(report: AuditReport): PageContent {
  const { status, pages, pagesTotal, differences } = report
  const left = pagesTotal - pages.length
  return {
    kicker: 'Audit',
    verdict: verdictOf(report),
    headline: headlineOf(report),
    facts: [
      ['Pages', countText(pagesTotal)],
      ['Vendors', countText(report.vendors)],
      ['Not loaded', countText(report.pagesFailed)],
      ['Missing tags', countText(report.missing)],
      ['Duplicate tags', countText(report.duplicates)],
      ['Before consent', countText(report.beforeConsent)],
      ['Script errors', countText(report.errors)],
    ],
    body: html`${differences !== null && differencesPart(differences)}
<h2>Pages</h2>
<ol>${pages.map(pagePart)}</ol>
${left > 0 && html`<p class="muted">${countText(left)} more ${left === 1 ? 'page is' : 'pages are'} not shown.</p>`}
${pages.length === 0 && html`<p class="muted">${status === 'failed' ? 'The audit ended before a page was loaded.' : 'No pages were found.'}</p>`}`,
  }
}

function verdictOf(report: AuditReport): PageContent['verdict'] {
  if (report.status === 'failed') return { word: 'Ended early', tone: 'bad' }
  return problemsOf(report).length > 0 ? { word: 'Needs attention', tone: 'warn' } : { word: 'Passed', tone: 'good' }
}

function problemsOf({ pagesFailed, missing, duplicates, beforeConsent }: AuditReport): string[] {
  const of = (count: number, one: string, many: string) =>
    count > 0 ? [`${countText(count)} ${count === 1 ? one : many}`] : []
  return [
    ...of(pagesFailed, 'page could not be loaded', 'pages could not be loaded'),
    ...of(missing, 'tag is missing', 'tags are missing'),
    ...of(duplicates, 'tag is duplicated', 'tags are duplicated'),
    ...of(beforeConsent, 'tag fires before consent', 'tags fire before consent'),
  ]
}

function headlineOf(report: AuditReport): string {
  const problems = problemsOf(report)
  const checked = `${countText(report.pagesTotal)} ${report.pagesTotal === 1 ? 'page' : 'pages'} checked`
  return problems.length > 0 ? `${problems.join('; ')}. ${checked}.` : `${checked}, no problems found.`
}

function differencesPart(differences: readonly Difference[]): Html {
  const row = ({ url, change, vendor, event }: Difference) =>
    html`<tr><th scope="row">${CHANGES[change]}${vendor !== null && html`: ${named(vendor, event)}`}</th><td>${url}</td></tr>`
  return html`<h2>Changes since the previous audit</h2>
<div class="card">${differences.length === 0 ? html`<p>Nothing changed.</p>` : html`<table><tbody>${differences.map(row)}</tbody></table>`}</div>`
}

const named = (vendor: string | null, event: string | null) => [vendor, event].filter(Boolean).join(' ') || 'a tag'

function pagePart(page: AuditedPage): Html {
  const { url, status, title, loadMs, requests, error, tags, missing, duplicates, beforeConsent, errors } = page
  const faults: [string, string[]][] = [
    ['Missing', missing.map(({ vendor, event }) => named(vendor, event))],
    ['Duplicates', duplicates.map(({ vendor, event, count }) => `${named(vendor, event)}, ${count} times`)],
    ['Before consent', beforeConsent.map(({ vendor, event }) => named(vendor, event))],
    ['Errors', [...errors]],
  ]
  const shown = faults.filter(([, list]) => list.length > 0)
  const row = ({ vendor, event, account, count }: AuditedPage['tags'][number]) =>
    html`<tr><th scope="row">${vendor}</th><td>${event}${account !== null && ` · ${account}`}${count > 1 && ` × ${count}`}</td></tr>`
  return html`<li class="card">
<div class="head"><h3>${url}</h3><span class="pill ${toneOf(page)}">${status ?? 'no response'}</span></div>
<p class="muted">${title !== '' && `${title} · `}${durationText(loadMs)} · ${countText(requests)} ${requests === 1 ? 'request' : 'requests'}</p>
${error !== null && html`<p class="says trouble">${error}</p>`}
${shown.length > 0 && html`<dl class="pairs">${shown.map(([name, list]) => html`<dt>${name}</dt><dd>${list.join('; ')}</dd>`)}</dl>`}
${tags.length > 0 && html`<details><summary>${tags.length} ${tags.length === 1 ? 'tag' : 'tags'}</summary><table><tbody>${tags.map(row)}</tbody></table></details>`}
</li>
`
}
