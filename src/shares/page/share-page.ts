import { createHash } from 'node:crypto'
import { LOGO_SVG } from '../../contract/logo.ts'
import type { Instant } from '../../core/clock.ts'
import { Html, html, type Part } from '../../core/html.ts'
import { momentText } from '../../core/moment-text.ts'
import type { Report } from '../public-report.ts'
import { durationText } from './format-text.ts'
import { auditPageContent } from './shared-audit-page.ts'
import { flowPageContent } from './shared-flow-page.ts'

/**
 * Renders the page for a run, without scripts. All strings must be safe to publish.
 * @param link Expiry of the page's link, and the time zone of the organization.
 */
export function sharePage(report: Report, { expiresAt, timezone }: { expiresAt: Instant; timezone: string }): string {
  const { kicker, verdict, headline, facts, body } =
    report.kind === 'flow' ? flowPageContent(report) : auditPageContent(report)
  const all: [string, Part][] = [
    ['Finished', momentText(report.finishedAt, timezone)],
    ['Duration', durationText(report.finishedAt - report.startedAt)],
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
${report.error && html`<p class="says trouble">Ended early: ${report.error}</p>`}
<dl class="facts">${all.map(([name, value]) => html`<div><dt>${name}</dt><dd>${value}</dd></div>`)}</dl>
</header>
${body}
</main>
<footer>
<p><span class="logo">${new Html(LOGO_SVG)}</span> Created with Tagwarden. This page shows a single run with personal data masked. The link expires on ${momentText(expiresAt, timezone)}.</p>
</footer>
</body>
</html>
`
  return page.text
}

const DARK = `--page:#0f1113;--card:#1a1d21;--ink:#e8eaed;--muted:#a6adb5;--line:#32373d;--soft:#22262b;
--good:#7ed99a;--on-good:#15301f;--bad:#ff9d94;--on-bad:#3c1b19;--warn:#f2c066;--on-warn:#362910`

/** Complete style sheet of a shared page, without external resources. */
const STYLE = `
:root{color-scheme:light dark;--page:#f3f4f6;--card:#fff;--ink:#16191d;--muted:#57606a;--line:#e2e5e9;--soft:#f6f7f9;
--good:#17693a;--on-good:#e4f5ea;--bad:#b3261e;--on-bad:#fdebea;--warn:#855200;--on-warn:#fdf2de}
@media screen and (prefers-color-scheme:dark){:root{${DARK}}}
*{box-sizing:border-box}
body{margin:0;padding:24px 16px 48px;background:var(--page);color:var(--ink);overflow-wrap:anywhere;
font:16px/1.5 system-ui,-apple-system,'Segoe UI',Roboto,Helvetica,Arial,sans-serif}
main,footer{max-width:880px;margin:0 auto}
h1,h2,h3,p,dl,dd,ol,ul,figure{margin:0;padding:0}
h1{font-size:26px;line-height:1.25;margin:2px 0 10px}
h2{font-size:19px;line-height:1.3;margin:32px 0 12px}
h3{font-size:16px;line-height:1.4;flex:1 1 0;min-width:55%}
ol,ul{list-style:none}
.kicker,.muted,footer{color:var(--muted);font-size:14px}
.headline{font-size:18px}
.card{background:var(--card);border:1px solid var(--line);border-radius:12px;padding:20px;margin:0 0 12px}
.head{display:flex;flex-wrap:wrap;gap:4px 12px;align-items:baseline}
.pill{border-radius:99px;padding:1px 10px;font-size:14px;font-weight:600;white-space:nowrap}
.good{background:var(--on-good);color:var(--good)}
.bad{background:var(--on-bad);color:var(--bad)}
.warn{background:var(--on-warn);color:var(--warn)}
.none{background:var(--soft);color:var(--muted)}
.facts{display:grid;grid-template-columns:repeat(auto-fit,minmax(150px,1fr));gap:12px 24px;margin-top:16px}
.facts dt,.pairs dt{color:var(--muted);font-size:14px}
.pairs{display:grid;grid-template-columns:minmax(90px,max-content) 1fr;gap:2px 16px;margin-top:8px}
.says{margin-top:8px}
.trouble{color:var(--bad)}
figure{margin-top:14px}
img{display:block;max-width:100%;max-height:480px;height:auto;width:auto;border:1px solid var(--line);border-radius:8px}
details{border-top:1px solid var(--line);margin-top:10px;padding-top:10px}
summary{cursor:pointer}
table{border-collapse:collapse;width:100%;font-size:14px;margin-top:6px;table-layout:fixed}
th,td{text-align:left;vertical-align:top;padding:4px 12px 4px 0;border-top:1px solid var(--line);font-weight:400}
th{color:var(--muted);width:36%}
.card>table:only-child{margin:0}.card>table:only-child tr:first-child>*{padding-top:0;border:0}
code,td{font-family:ui-monospace,SFMono-Regular,Menlo,Consolas,'Liberation Mono',monospace}
footer{margin-top:32px}
.logo svg{width:18px;height:18px;vertical-align:-4px}
@media(max-width:480px){body{padding:16px 10px 32px}.card{padding:14px}h1{font-size:22px}.facts{grid-template-columns:1fr 1fr}}
code{font-size:.92em;background:var(--soft);border-radius:4px;padding:0 3px}
@media print{body{padding:0;background:none}.card{border-color:#bbb;break-inside:avoid;padding:12px}
.steps .card{break-inside:auto}h2,h3{break-after:avoid}figure,tr{break-inside:avoid}img{max-height:300px}
details::details-content{content-visibility:visible;display:block}}
@page{size:A4;margin:15mm}
`

const hash = createHash('sha256').update(STYLE).digest('base64')

/**
 * Headers for the page and its images: they are not cached, framed or indexed, and the page loads only its own images.
 */
export const SHARE_HEADERS = {
  'content-security-policy': `default-src 'none'; img-src 'self'; style-src 'sha256-${hash}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`,
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'referrer-policy': 'no-referrer',
  'x-frame-options': 'DENY',
  'x-robots-tag': 'noindex, nofollow',
}
