import type { Instant } from '../../core/clock.ts'
import { timeText } from '../../core/text.ts'
import type { Report } from '../report.ts'
import { auditParts } from './audit-page.ts'
import { durationText } from './duration.ts'
import { flowParts } from './flow-page.ts'
import { Html, html, type Part } from './html.ts'
import { STYLE } from './style.ts'

/** Returns the page of a run, complete without scripts. `expiresAt`: when its link ends. Texts must be fit for strangers. */
export function sharePage(report: Report, expiresAt: Instant): string {
  const { kicker, verdict, headline, facts, body } = report.kind === 'flow' ? flowParts(report) : auditParts(report)
  const all: [string, Part][] = [
    ['Finished', timeText(report.finishedAt)],
    ['Took', durationText(report.finishedAt - report.startedAt)],
    ...facts,
    ['Region', report.region],
  ]
  const page = html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="robots" content="noindex, nofollow">
<meta name="referrer" content="no-referrer">
<title>${report.name} · Tagwarden</title>
<style>${new Html(STYLE)}</style>
</head>
<body>
<main>
<header class="card">
<p class="kicker">${kicker}</p>
<h1>${report.name}</h1>
<p class="headline"><span class="pill ${verdict.tone}">${verdict.word}</span> ${headline}</p>
${report.error && html`<p class="says trouble">It ended early: ${report.error}</p>`}
<dl class="facts">${all.map(([name, value]) => html`<div><dt>${name}</dt><dd>${value}</dd></div>`)}</dl>
</header>
${body}
</main>
<footer>
<p>Made by Tagwarden. This page shows one run and nothing else; personal data is masked. The link ends on ${timeText(expiresAt)}.</p>
</footer>
</body>
</html>
`
  return page.text
}
